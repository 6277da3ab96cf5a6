"""Commands that the paper's package adds to ``declump``."""

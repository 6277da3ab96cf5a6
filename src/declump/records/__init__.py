"""The types that stages hand on, and the pixels of cells."""

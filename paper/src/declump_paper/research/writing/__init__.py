"""Tables and figures of a run as files: Markdown, CSV, LaTeX, and one HTML page."""

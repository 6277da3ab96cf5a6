"""What the formats are made of: pixels, outlines, planes, tables, and metadata that say what a file is."""

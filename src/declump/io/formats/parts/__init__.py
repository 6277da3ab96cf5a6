"""What the formats are made of: pixels, outlines, run lengths, planes, tables, and marks that say what a file is."""

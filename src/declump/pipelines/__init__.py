"""The stages in order: cells, nuclei and other objects of an image or a mask."""

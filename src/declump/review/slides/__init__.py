"""Slides under review: cells by window, every edit in the box of its clump."""

"""Outlines as arrays into pictures and axes; knows no segmentation, so that a segmentation can show itself."""

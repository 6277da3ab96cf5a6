"""The napari plugin: results as layers and back, and a widget in which seeds are corrected."""

"""Shapes of objects: contours, statistical and geometric priors, reach, alignment."""

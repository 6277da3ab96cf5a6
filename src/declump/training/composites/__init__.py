"""Composites to learn from: real things cut out as what light they let through, laid onto real frames."""

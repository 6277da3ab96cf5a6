"""Objects of a mask, told apart by its shape alone."""

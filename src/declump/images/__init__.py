"""Images from files and from other libraries' arrays to pixels."""

"""Assignors, told in stories and held to what must be true of any group."""

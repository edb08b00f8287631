"""Plans: everything that is decided about a run before it begins, drawn from a seed or read from a file."""

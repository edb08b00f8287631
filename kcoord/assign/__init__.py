"""Who runs what? Assignors: pure functions from a group to an assignment. Knows nobody."""

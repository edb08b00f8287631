"""The simulator: seeds that must be well, and mutants that must be caught."""

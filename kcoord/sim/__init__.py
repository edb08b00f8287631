"""Deterministic simulation: the coordinator's engine and the workers' logic on virtual time, one seed one run."""

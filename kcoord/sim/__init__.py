"""Deterministic simulation: the coordinator's engine and the workers' logic on virtual time, one run for each seed."""

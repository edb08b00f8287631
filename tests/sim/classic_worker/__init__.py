"""Scripted classic workers on the engine, one connection each, no faults but those that a test makes."""

"""What every run stands on: events and their clock, storage, trace, outcome, violations."""

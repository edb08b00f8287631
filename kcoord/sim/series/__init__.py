"""Series of runs: many seeds, what they have looked at, and a failing run made smaller. Start at `run.py`."""

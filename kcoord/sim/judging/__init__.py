"""The judges of a run: what must hold after each step, and what must come at rest. Start at `checks.py`."""

"""Rounds of classic workers: who leads, what the leader is shown, and what its answer means."""

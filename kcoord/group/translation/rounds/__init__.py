"""Rounds of classic workers: who leads, what the leader is shown, and what its answer means.

Read in this order:

1. `leader.py` and `leader_view.py`: who leads and whether it is ready, and how it is shown a member.
2. `existence_looks.py` and `look_policy.py`: the leader is asked what exists, and when.
3. `computing_round.py`: under `default` the leader also computes who runs what.
4. `config_round.py`: all workers stop what was reconfigured before any of them starts it again.
"""

"""Delivery to classic workers: when each is called, when its JoinGroup and SyncGroup are answered, and what it is told.

Read in this order:

1. `assignment_delta.py`: what a worker is to start and to stop. `handover.py`: when it is told to stop.
2. `sync_answers.py` and `join_answers.py`: which requests wait, for how long, and what their answers say.
3. `rejoin_policy.py`: the reasons to call a worker.
4. `default_barrier.py`: under `default` all workers wait for each other.
"""

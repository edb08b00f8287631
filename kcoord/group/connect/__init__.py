"""Connect groups: what docs/rules/connect-groups.md adds to groups without a barrier (`modern/`).

Read in this order:

1. `request_validation.py` and `member_metadata.py`: what a worker may say, and what is kept of it.
2. `membership.py` and `departed_workers.py`: how it joins and leaves, and how its work waits for it.
3. `configured_set.py`: what exists. `reasons.py`: why there is a new assignment.
4. `selection.py`, `computing.py`, `install.py` and `repetition_brake.py`: who computes it, and how it is installed.
5. `answers.py` and `native_dialect.py`: what a worker is told, and when.
6. `settle.py` and `timers.py`: what follows from a change, and what is due.
"""

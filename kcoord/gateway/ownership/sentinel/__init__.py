"""The sentinel: kcoord's own member in one group upstream.

Read in this order:

1. `appearance.py`: what the sentinel shows to clients that ask the brokers. `described_groups.py`: how it is seen.
2. `sentinel.py`: how it takes a group, keeps it, and gives it back.
3. `shared_sentinel.py`: what differs if several instances act as one sentinel.
"""

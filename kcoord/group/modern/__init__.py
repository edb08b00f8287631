"""Groups without a barrier: the rules that hold whatever a group assigns, and whatever its members call a heartbeat.

Read in this order:

1. `reconcile.py`: how one member moves towards its target. A pure function.
2. `grants_and_releases.py`: how its current grows and shrinks on the way, by answers and by what it reports.
3. `epochs.py` and `history.py`: what moves the group epoch, which epoch a member may say, and what was kept of that.
4. `newest_connection.py`, `refusal.py` and `departure.py`: whose request counts, how one is refused, how a member goes.
5. `held_replies.py`, `sessions.py` and `noop_heartbeat.py`: what waits, what ends by time, and what needs no record.

What differs from kind to kind is asked of a `Kind` (`state/transition.py`). The state of these groups and their members
is in `state/groups/modern_group.py` and `state/groups/modern_member.py`.
"""

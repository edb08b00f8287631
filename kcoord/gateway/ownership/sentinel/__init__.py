"""The sentinel: kcoord's own member in one group upstream.

Read in this order:

1. `sentinel.py`: the rules, and what others ask of a sentinel: to take a group, to keep it, to give it back.
2. `state.py`: what kcoord knows about it. `appearance.py`: what it shows to clients that ask the brokers.
3. `requests.py` and `joins.py`: what it asks upstream, and how it gets into a group.
   `described_groups.py` and `upstream_errors.py`: what upstream's answers say.
4. `replacement.py`: how it replaces the members of a live group. `admission.py`: how it lets members in at a release.
5. `shared_sentinel.py`: what differs if several instances act as one sentinel.
"""

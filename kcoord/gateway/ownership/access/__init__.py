"""Access: whose a group is, what a client may do with it, and what happens to members while the cluster is away.

Read in this order:

1. `group_ownership.py`: whether a group is kcoord's now.
2. `rights.py`: what a client may do, as upstream says. `guarded_groups.py`: the only way for a client to a group.
3. `member_sessions.py`: the connections of members, and how often kcoord asks for their rights.
4. `paused_sessions.py` and `outage.py`: members outlive an outage of their broker.
"""

"""Ownership of groups, by kcoord or by the cluster: whose a group is now, and how it goes from one to the other.

Read the packages in this order; each imports only from those before it:

1. `sentinel/`: kcoord's own member in one group upstream, by which it has the group.
2. `access/`: whose a group is, what a client may do with it, and what happens while the cluster is away.
3. `maintenance/`: all sentinels of this process, from the first join to the farewell.
4. `handover/`: a live group comes from the cluster (adoption), and goes back to it (release).
"""

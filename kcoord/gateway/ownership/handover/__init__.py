"""The handover of a live group between the cluster and kcoord, in both directions.

Read in this order:

1. `cluster_groups.py`: the cluster's groups, and which of their members come through kcoord.
2. `former_member_ids.py`: the ids that members had before they went. `group_traffic.py`: calls that wait meanwhile.
3. `release.py`: how kcoord gives a group back. `open_release.py`: what it knows about an open release.
   `calls_during_release.py`: what the members' calls do meanwhile.
4. `adoption.py`: how kcoord takes a group over.
"""

"""Groups without a barrier, whatever they assign: how one member moves towards its target.

The state of such groups and their members is in `state/groups/modern_group.py` and `state/groups/modern_member.py`.
"""

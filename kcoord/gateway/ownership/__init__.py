"""Whose is a group, and is it kcoord's now: sentinels, adoption and release, rights, outages."""

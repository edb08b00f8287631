"""Committed offsets in kcoord's own log, for a kcoord without a cluster behind it."""

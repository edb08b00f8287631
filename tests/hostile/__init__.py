"""Hostile clients against a real kcoord: one file a risk, docs/hostile-clients.md is the table of them."""

"""The kinds of runs, by name. `run.WORLDS` says what belongs to each."""

CONNECT, MIXED, CLASSIC, INSTANCES = "connect", "mixed", "classic", "instances"
ADOPTION = "adoption"
"""A group goes from a cluster to kcoord and back. This kind has no plan files."""
CONSUMER = "consumer"
"""Consumer groups of KIP-848."""
KINDS = (CONNECT, MIXED, CLASSIC, INSTANCES, CONSUMER)
WITH_MIX = (MIXED, CLASSIC)
"""Kinds in which classic workers take part."""

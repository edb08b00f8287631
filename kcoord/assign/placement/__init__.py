"""Placement rules: where users want connectors and tasks to run, and how any assignor follows that.

Start at ``rules`` (what a user can ask for) and ``cordons_and_drains`` (how rules place a group, a few moves at a
time). ``shaping`` decides what moves, on the ``board``, which finds the best place for everything.
"""

from kcoord.assign.placement.cordons_and_drains import Placement, place
from kcoord.assign.placement.rules import (
    NO_RULES,
    Affinity,
    Capacity,
    Cordon,
    Domain,
    Rules,
    Separation,
    Spread,
    Weight,
    Zone,
)

__all__ = [
    "NO_RULES",
    "Affinity",
    "Capacity",
    "Cordon",
    "Domain",
    "Placement",
    "Rules",
    "Separation",
    "Spread",
    "Weight",
    "Zone",
    "place",
]

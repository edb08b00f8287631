"""The setting of a group that says who is to coordinate it: kcoord, or the cluster behind it."""

from __future__ import annotations

from enum import StrEnum

OWNER = "gateway.owner"
"""Who is to coordinate the group: kcoord or the cluster behind it."""


class Owner(StrEnum):
    """Who is to coordinate a group that kcoord and the cluster could both coordinate."""

    AUTO = "auto"
    """As the setting `gateway.adopt` says."""
    KCOORD = "kcoord"
    CLUSTER = "cluster"

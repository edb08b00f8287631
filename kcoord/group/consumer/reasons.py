"""Reasons why a consumer group's epoch moves: the whole list, in words for people.

A text begins with one of these and names the members: `consumer joined: app-1`. The epoch does not move for another
server-side assignor or timeout, nor for a join without topics; for another rack only if the group's assignor reads
racks.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """What bumps the group epoch."""

    JOINED = "consumer joined"
    LEFT = "consumer left"
    REMOVED = "removed by an admin"
    SESSION_EXPIRED = "session expired"
    REBALANCE_TIMEOUT = "rebalance timeout"
    SUBSCRIPTION_CHANGED = "subscription changed"
    RACK_CHANGED = "rack changed"
    ASSIGNORS_CHANGED = "client-side assignors changed"
    TOPICS_CHANGED = "topics changed"
    MIGRATED = "migrated from a classic group"


OF_DEPARTURES = frozenset({Reason.REMOVED, Reason.SESSION_EXPIRED, Reason.REBALANCE_TIMEOUT})
"""Reasons with which somebody loses partitions without having let go of them."""

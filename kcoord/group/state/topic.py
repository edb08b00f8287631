"""A topic, as consumer groups know it."""

from __future__ import annotations

from kcoord.protocol.frozen_class import frozen


@frozen(slots=True)
class Topic:
    """A topic, as it was seen last."""

    name: str
    id: bytes
    partitions: int
    """Their number."""

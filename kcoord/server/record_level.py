"""The record level: which records this kcoord writes at most."""

from __future__ import annotations

from kcoord.config import Settings
from kcoord.protocol.record_levels import RECORD_LEVEL, RELEASE_0_1_0


def record_level(settings: Settings) -> int:
    """Which records this kcoord writes at most: those that the release reads with which it must be compatible."""
    return RELEASE_0_1_0 if settings.compatible_with else RECORD_LEVEL

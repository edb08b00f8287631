"""The record level: the highest level of records that this kcoord writes."""

from __future__ import annotations

from kcoord.protocol.record_levels import RECORD_LEVEL, RELEASE_0_1_0
from kcoord.settings_sources import Settings


def record_level(settings: Settings) -> int:
    """The highest level of records that this kcoord may write. With `compatible.with`, the level that this release can
    read.
    """
    return RELEASE_0_1_0 if settings.compatible_with else RECORD_LEVEL

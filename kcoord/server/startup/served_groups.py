"""Which kinds of groups are served, by the settings."""

from __future__ import annotations

from kcoord.settings_sources import Settings


def serves_consumer_groups(settings: Settings) -> bool:
    """Whether consumer groups are served: without a cluster unless that is switched off, in front of one if that is
    asked for.
    """
    return settings.group_consumer_enable == "true" or (
        not settings.upstream and settings.group_consumer_enable == "auto"
    )

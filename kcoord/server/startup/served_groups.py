"""Which kinds of groups are served, by the settings."""

from __future__ import annotations

from kcoord.settings_sources import Settings

COULD_SERVE_CONSUMERS = (
    "the cluster does not know group.protocol=consumer (KIP-848): with group.consumer.enable=true kcoord serves such "
    "consumers, in the groups that match"
)
"""What somebody is told whose cluster lacks consumer groups, while kcoord does not serve them either."""


def could_serve_consumers(settings: Settings, *, has_consumer_groups: bool) -> bool:
    """Whether neither the cluster nor kcoord serves consumer groups, and nobody has said that it is meant so."""
    return bool(settings.upstream) and settings.group_consumer_enable == "auto" and not has_consumer_groups


def serves_consumer_groups(settings: Settings) -> bool:
    """Whether consumer groups are served: without a cluster unless that is switched off, in front of one if that is
    asked for.
    """
    return settings.group_consumer_enable == "true" or (
        not settings.upstream and settings.group_consumer_enable == "auto"
    )

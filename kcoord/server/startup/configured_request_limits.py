"""The limits of one request, made from kcoord's settings."""

from __future__ import annotations

from kcoord.group.request_limits import RequestLimits
from kcoord.settings_sources import Settings


def request_limits(settings: Settings) -> RequestLimits:
    """The limits of one request."""
    return RequestLimits(
        groups=settings.request_max_groups,
        elements=settings.request_max_elements,
        answer_bytes=settings.response_max_bytes,
    )

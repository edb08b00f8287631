"""What a worker reports about itself: its identity, which cannot change, and its settings, which can."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import attrs

from kcoord.assign import Resource

FALLBACK_SESSION_MS = 45_000
"""The session timeout that a worker assumes if the coordinator does not send one: Kafka's default."""


@attrs.frozen
class Offer:
    """A client-side assignor, in the form in which the coordinator gets it."""

    name: str
    minimum_version: int = 0
    maximum_version: int = 0
    reason: int = 0
    version: int = 0
    metadata: bytes = b""


@attrs.frozen
class Setup:
    """One worker. Times are in ms. `Membership.update` may change the fields below `url`."""

    group_id: str
    member_id: str
    """Made once for each worker of a process, and kept when it joins again (CG-31)."""
    instance_id: str | None = None
    """For a static member (CG-28)."""
    url: str | None = None
    rebalance_timeout_ms: int = 60_000
    """How long the coordinator waits for a revocation before it excludes the worker (CG-7)."""
    server_assignor: str | None = None
    """Not together with `offers`."""
    offers: tuple[Offer, ...] = ()
    """Client-side assignors, the preferred one first."""
    configured: frozenset[Resource] | None = None
    """All resources that exist, if this worker knows them (CG-21)."""
    config_offset: int = -1
    """The version of `configured`; the highest wins."""
    revisions: Mapping[str, int] = attrs.Factory(dict)
    """By connector: how many times its tasks were reconfigured. For the classic protocol, where all workers stop such
    tasks before any worker starts them with the new configuration.
    """
    of_topic: bool = False
    """`config_offset` is an offset of Connect's configuration topic, so it can be compared with other workers'
    offsets.
    """
    of_file: bool = False
    """`config_offset` is the time of a file's last change, which means nothing to workers of Kafka Connect."""
    trouble: str | None = None
    """What goes wrong here, for people to read. Empty: nothing any more; None: nothing ever has."""
    max_wait_ms: int = 0
    """How long an answer may be held until there is something to say (CG-26). 0: no answer is held, and the worker asks
    at every interval.
    """
    margin_ms: int | None = None
    """How long before the end of its session the worker stops everything (CG-8). None: a sixth of it, ten seconds at
    most.
    """
    request_timeout_ms: int = 10_000
    """After so long without an answer (beyond the time that it may be held) the worker gives up the connection."""
    backoff_ms: int = 100
    backoff_max_ms: int = 1_000
    leave_timeout_ms: int = 5_000
    """How long a worker that has stopped tries to tell the coordinator that it leaves."""

    def with_changes(self, changes: Mapping[str, object]) -> Setup:
        """A copy with other values of some fields: as `attrs.evolve`, in a third of the time."""
        values: dict[str, Any] = dict(zip(_FIELDS, _VALUES(self), strict=True))
        values.update(changes)
        return Setup(**values)

    def margin(self, session_ms: int) -> int:
        """The margin for a session of that length."""
        if self.margin_ms is not None:
            return min(self.margin_ms, session_ms // 2)
        return session_ms // 6 if session_ms < 60_000 else 10_000


_FIELDS = tuple(each.name for each in attrs.fields(Setup))
_VALUES = attrgetter(*_FIELDS)

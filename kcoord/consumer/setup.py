"""What a consumer reports about itself: its identity, its subscription and its settings. Nothing here changes."""

from __future__ import annotations

import attrs


@attrs.frozen
class Setup:
    """One consumer. Times are in ms."""

    group_id: str
    member_id: str
    """Made once for each consumer, and kept when it joins again."""
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    """A regular expression that the coordinator resolves."""
    instance_id: str | None = None
    """For a static member."""
    rack_id: str | None = None
    server_assignor: str | None = None
    """Not together with `client_assignors`."""
    client_assignors: tuple[str, ...] = ()
    """The names of the assignors that this consumer can run itself, the preferred one first."""
    max_poll_ms: int = 300_000
    """How long the application may take from one poll to the next. The coordinator waits as long for a revocation."""
    request_timeout_ms: int = 30_000
    """After so long without an answer, beyond an interval in which it may be held, the connection is given up."""
    backoff_ms: int = 100
    backoff_max_ms: int = 1_000
    leave_timeout_ms: int = 5_000
    """How long a consumer that has let go of everything tries to tell the coordinator that it leaves."""

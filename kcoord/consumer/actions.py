"""The actions that a consumer's membership asks for. They are only data: the asyncio driver carries them out.

Actions are carried out in the order in which they come. A number in an action is handed back with its outcome.
"""

from __future__ import annotations

from typing import TypeAlias

from kcoord.assign.consumer import ConsumerMemberAssignment, PreparedGroup
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Request

Partition: TypeAlias = tuple[bytes, int]
"""A topic's id, and the number of a partition."""


@frozen(slots=True)
class Seek:
    """Drop the connection, if there is one; find the coordinator and connect again.

    Then `connected`, `unreachable` or `refused`. Answers that still come by the old connection must not be handed in.
    """


@frozen(slots=True)
class Send:
    """Send the request on the connection to the coordinator. Then `answered`; `disconnected` if the connection ends."""

    number: int
    request: Request


@frozen(slots=True)
class Revoke:
    """Read nothing more from these, commit, call `on_revoked`; when that has returned, `released`."""

    number: int
    partitions: frozenset[Partition]


@frozen(slots=True)
class Grant:
    """From now on these are this consumer's: find out where to begin, call `on_assigned`, read."""

    partitions: frozenset[Partition]


@frozen(slots=True)
class Lose:
    """These are all that the consumer has, and others may have them by now: stop at once, call `on_lost`; then `lost`.

    Revocations and grants that are under way are interrupted.
    """

    number: int
    partitions: frozenset[Partition]
    why: str


@frozen(slots=True)
class TellAssignor:
    """Call `on_assignment` of the group's assignor, once for each epoch."""

    assignor: str | None
    """The assignor that the group used when this consumer last computed; None if it never did."""
    assignment: ConsumerMemberAssignment


@frozen(slots=True)
class Assign:
    """Let the assignor of that name assign the group; then `computed`. The consumer sends heartbeats meanwhile."""

    number: int
    assignor: str
    group: PreparedGroup


@frozen(slots=True)
class ComputationRefused:
    """What this consumer computed was not installed. This is for the log; nothing has to be done."""

    error_code: int
    message: str | None


@frozen(slots=True)
class Joined:
    """The consumer has become a member, for the first time or again."""

    epoch: int


@frozen(slots=True)
class Gone:
    """The membership is over. The consumer has left, or, if there is an error, may not be a member."""

    error_code: int = 0
    message: str | None = None


Action: TypeAlias = Seek | Send | Revoke | Grant | Lose | TellAssignor | Assign | ComputationRefused | Joined | Gone

"""The actions that a membership asks for. They are only data: the asyncio shell and the simulator carry them out.

Actions are carried out in the order in which they come. A number in an action is handed back with its outcome.
"""

from __future__ import annotations

from typing import TypeAlias

from kcoord.assign import Group, MemberAssignment, Resource
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Request


@frozen(slots=True)
class Seek:
    """Drop the connection, if there is one; find the coordinator and connect again.

    Then `connected`, or `unreachable`. Answers that still come by the old connection must not be handed in.
    """


@frozen(slots=True)
class Send:
    """Send the request on the connection to the coordinator. Then `answered`; `disconnected` if the connection ends."""

    number: int
    request: Request


@frozen(slots=True)
class Revoke:
    """Stop these and call `on_revoked`; when that has returned, `released`. The worker sends heartbeats meanwhile."""

    number: int
    resources: frozenset[Resource]


@frozen(slots=True)
class Grant:
    """From now on this worker is to run these: start them and call `on_assigned`."""

    resources: frozenset[Resource]
    epoch: int


@frozen(slots=True)
class Abandon:
    """Stop everything at once (these are all resources that may run), interrupt revocations and starts; then
    `abandoned`.

    They must have stopped by `stop_by_ms`: from then on others may run them.
    """

    number: int
    resources: frozenset[Resource]
    why: str
    stop_by_ms: int


@frozen(slots=True)
class Overrun:
    """The session must have ended, and these have not stopped: others may run them now. This is the last chance to
    act.
    """

    resources: frozenset[Resource]


@frozen(slots=True)
class Told:
    """`on_assignment` of the group's assignor is to be called with this, once for each epoch (CG-31)."""

    epoch: int
    assignor: str | None
    """The assignor that the group used when this worker last computed; None if it never did."""
    assignment: MemberAssignment


@frozen(slots=True)
class Assign:
    """Let the assignor of that name assign the group; then `computed`. The worker sends heartbeats meanwhile."""

    number: int
    assignor: str
    group: Group


@frozen(slots=True)
class Refused:
    """What this worker computed was not installed. This is for the log; nothing has to be done."""

    error_code: int
    message: str | None


@frozen(slots=True)
class Joined:
    """The worker has become a member, for the first time or again."""

    epoch: int


@frozen(slots=True)
class Gone:
    """The membership is over. The worker has left, or, if there is an error, may not be a member. Nothing runs any
    more.
    """

    error_code: int = 0
    message: str | None = None


Action: TypeAlias = Seek | Send | Revoke | Grant | Abandon | Overrun | Told | Assign | Refused | Joined | Gone

"""The sentinel's state: what kcoord knows about its member in one group, and about who else has that group.

Nothing here asks upstream. What upstream has said is noted by `note_join`, `note_refusal`, `pass_for` and `forget`, by
whoever holds the sentinel's `lock`.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from typing import ClassVar, Protocol

import attrs

from kcoord.gateway.ownership.sentinel.appearance import Appearance, KnownAppearance
from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID, Seen, is_at_rest
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import JoinGroupResponse

__all__ = [
    "PROTOCOL",
    "Apart",
    "AppearanceSource",
    "Identity",
    "MembersOf",
    "OwnConnection",
    "SentinelState",
    "SessionLimit",
    "no_connection",
    "nobody",
]

log = logging.getLogger("kcoord.gateway")

PROTOCOL = "kcoord"
"""The protocol that the sentinel joins with."""
SHORTEST_SESSION_MS = 6_000
BEATS_A_SESSION, TRIES_A_SESSION = 3, 30
"""Heartbeats in one session: while upstream accepts them, and while it does not."""


class SessionLimit:
    """The longest session, in ms, that upstream is known to allow; shared by all sentinels."""

    def __init__(self, session_timeout_ms: int) -> None:
        self.session_timeout_ms = session_timeout_ms

    def lower(self) -> bool:
        """Lower the limit, because upstream refused it. Returns False if there is nothing lower to try."""
        if self.session_timeout_ms <= SHORTEST_SESSION_MS:
            return False
        self.session_timeout_ms = max(self.session_timeout_ms // 2, SHORTEST_SESSION_MS)
        return True


@attrs.frozen(slots=True)
class Identity:
    """The member in whose name kcoord commits offsets, and the generation here that it stands for."""

    member_id: str
    generation: int
    """Upstream's."""
    mark: int | None

    def stands_for(self, generation: int) -> bool:
        """Whether a commit of that generation here may go in this name; a negative generation belongs to no member."""
        return self.mark is not None and (generation < 0 or self.mark == generation)


class AppearanceSource(Protocol):
    """The source of sentinels' appearances."""

    async def of(self, group_id: str, asker: Asker, /) -> KnownAppearance | None:
        """The appearance by the coordinator and the cluster now; None: not known. Raises UpstreamLost."""
        ...


MembersOf = Callable[[str], Awaitable[AbstractSet[str]]]
"""Tells the ids of a group's members here."""


class OwnConnection(Asker, Protocol):
    """A connection of kcoord's own."""

    def close(self) -> None: ...


Apart = Callable[[str], OwnConnection | None]
"""Makes a connection for one JoinGroup of the sentinel of that group; None if upstream asks for credentials."""


async def nobody(_group_id: str) -> AbstractSet[str]:
    return frozenset()


def no_connection(_group_id: str) -> OwnConnection | None:
    return None


class SentinelState:
    """What kcoord knows about its member in one group upstream."""

    __slots__ = (
        "apart",
        "appearance",
        "appearance_for",
        "appearance_source",
        "beat_due_ms",
        "broker_id",
        "carriers",
        "comes_back",
        "delay",
        "empty_since_ms",
        "fenced_times",
        "forget_answers",
        "generation",
        "group_id",
        "has_acted",
        "has_room",
        "inherited",
        "is_contested",
        "is_put_out",
        "lock",
        "mark",
        "member_id",
        "members_of",
        "offers",
        "own_protocol",
        "parked",
        "refused",
        "session_limit",
        "stand_in",
        "taking",
        "taking_since_ms",
    )

    IS_SHARED: ClassVar = False
    """Whether other instances may act as this sentinel too."""
    OVERTAKEN: ClassVar[AbstractSet[ErrorCode]] = frozenset()
    """Errors of a join that say that another instance came between: the group is not refused, and another attempt does
    not help before it is known who is in the group.
    """

    def __init__(
        self,
        group_id: str,
        session_limit: SessionLimit,
        appearance_source: AppearanceSource,
        forget_answers: Callable[[str], None] = lambda _group_id: None,
        members_of: MembersOf = nobody,
        apart: Apart = no_connection,
    ) -> None:
        """`forget_answers` is called when upstream has other members of the group, or may have."""
        self.group_id = group_id
        self.members_of = members_of
        self.apart = apart
        self.forget_answers = forget_answers
        self.session_limit = session_limit
        self.appearance_source = appearance_source
        self.own_protocol = f"{PROTOCOL}-{secrets.token_hex(4)}"
        """The protocol that nobody else speaks."""
        self.appearance: Appearance | None = None
        """How it looks while it is joined, or at its next join; None: it asks before it joins."""
        self.appearance_for: int | None = None
        """The generation here that the appearance belongs to; None: it may lack topics."""
        self.member_id = ""
        self.generation = -1
        """The generation upstream."""
        self.mark: int | None = None
        """The generation here that `generation` stands for; None: not joined, or not known to be."""
        self.offers: tuple[JoinGroupRequestProtocol, ...] = ()
        """What it offers beside its own protocol while the group is being released."""
        self.broker_id: int | None = None
        """The broker over whose port it joined last."""
        self.inherited = False
        """Whether it may be in the group although this process does not know of a join: a predecessor of this process
        may have left it there, the answer to a join was lost, or it `is_put_out`.
        """
        self.is_put_out = False
        """Whether it was removed, and the group has not been seen at rest without it since. Upstream writes nothing to
        its log before a rebalance has ended: a coordinator that loads it meanwhile has the sentinel again.
        """
        self.refused = False
        """Whether the group has other members upstream: all its calls go upstream."""
        self.has_acted = False
        """Whether this process has changed anything in the group upstream, or tried to."""
        self.is_contested = False
        """Whether it is not known who has the group, so that nothing is answered: while it is adopted, until upstream
        has said that it has removed the members; and after an adoption was broken off, because its connection was lost,
        or because upstream has shown the sentinel of a predecessor of this process beside other members.
        """
        self.parked: asyncio.Future[JoinGroupResponse] | None = None
        """The join by which it waits in a group that it adopts until all members are removed (AD-8)."""
        self.stand_in: Identity | None = None
        """The member in whose name commits go while the join that adopts the group waits upstream (AD-11)."""
        self.taking: asyncio.Task[ErrorCode] | None = None
        self.taking_since_ms = 0
        self.has_room: asyncio.Event | None = None
        """While kcoord takes the group: set when upstream has said that nobody keeps the sentinel out (rule 7 of
        `sentinel.py`).
        """
        self.comes_back = False
        """Whether the group already had members here when kcoord began to take it: they may be the cluster's by now."""
        self.carriers: dict[Asker, None] = {}
        """Connections of members that can speak for it; the one that proved first that it may read the group is first.
        """
        self.lock = asyncio.Lock()
        self.empty_since_ms: int | None = None
        self.beat_due_ms = 0
        """When the next heartbeat is due."""
        self.fenced_times = 0
        """How often another process has taken it over."""
        self.delay = ""
        """Why its group is not released yet, as the log said last."""

    @property
    def is_joined(self) -> bool:
        return self.mark is not None

    @property
    def is_taking(self) -> bool:
        return self.taking is not None and not self.taking.done()

    @property
    def identity(self) -> Identity:
        """The member that it is upstream."""
        return self.stand_in or Identity(self.member_id, self.generation, self.mark)

    def is_of_type(self, protocol_type: str) -> bool:
        return self.appearance is not None and self.appearance.protocol_type == protocol_type

    def note_fenced(self) -> None:
        """Another process has taken it over: say so the first, second, fourth, eighth … time. Two that do not share the
        groups take it from each other several times a second.
        """
        self.fenced_times += 1
        if not self.fenced_times & (self.fenced_times - 1):
            log.error(
                "group %s was taken over upstream by another kcoord (group.instance.id kcoord), %d %s by now: several "
                "kcoords before one cluster may have the same groups only if they share them (--log kafka)",
                self.group_id,
                self.fenced_times,
                "time" if self.fenced_times == 1 else "times",
            )

    def note_delay(self, why: str) -> None:
        """The group cannot be released now. That is tried each second, and said once for each reason."""
        if why != self.delay:
            self.delay = why
            log.info("group %s is not released yet: %s", self.group_id, why)

    # -- its heartbeats -----------------------------------------------------------------------------------------------

    @property
    def beat_interval_ms(self) -> int:
        return self.session_limit.session_timeout_ms // BEATS_A_SESSION

    def is_due(self, now_ms: int) -> bool:
        """Whether a heartbeat is due."""
        return now_ms >= self.beat_due_ms

    def heard(self, error: ErrorCode, now_ms: int) -> None:
        """Take the result of a heartbeat, and set when the next one is due."""
        tries = BEATS_A_SESSION if error == ErrorCode.NONE else TRIES_A_SESSION
        self.beat_due_ms = now_ms + self.session_limit.session_timeout_ms // tries

    # -- what upstream has said ---------------------------------------------------------------------------------------

    def doubt(self, identity: Identity) -> None:
        """Upstream no longer knows `identity`."""
        if self.stand_in == identity:
            self.stand_in = None
        elif self.identity == identity:
            self.mark, self.beat_due_ms = None, 0

    def note_join(self, asker: Asker, mark: int) -> None:
        """It is in the group, with that mark."""
        self.mark, self.refused, self.inherited, self.is_contested = mark, False, False, False
        self.is_put_out = False
        self.broker_id, self.empty_since_ms = asker.broker_id, None

    def pass_for(self, asker: Asker, seen: Seen | None) -> None:
        """Act as the sentinel that is in the group, from now on."""
        assert seen is not None
        assert seen.shown is not None
        self.member_id, self.generation, self.appearance = seen.member_id, seen.shown.generation, seen.shown.appearance
        self.note_join(asker, seen.shown.mark)

    def note_refusal(self) -> None:
        """The group has other members upstream."""
        self.forget()
        self.refused = True
        self.forget_answers(self.group_id)

    def note_description(self, described: DescribedGroup) -> None:
        """Upstream has described the group. If it is at rest without the sentinel, the sentinel does not come back."""
        is_there = any(each.group_instance_id == INSTANCE_ID for each in described.members)
        if is_at_rest(described) and not is_there and not self.is_joined:
            self.is_put_out = self.inherited = False

    def begin_adoption(self, now_ms: int) -> None:
        """From now on it replaces the members upstream, and until they are removed there, upstream has the group."""
        self.taking_since_ms, self.is_contested, self.comes_back = now_ms, True, False

    def note_removal(self) -> None:
        """Upstream has removed the members for it: they are nobody's but kcoord's."""
        self.is_contested = False

    def note_broken_adoption(self) -> None:
        """The connection was lost while it replaced the members: it may be in the group, or they may, or both."""
        self.inherited = self.is_contested = True
        self.forget_answers(self.group_id)

    def forget(self) -> None:
        """It is not in the group any more."""
        self.member_id, self.generation, self.mark, self.empty_since_ms = "", -1, None, None
        self.inherited, self.is_contested, self.beat_due_ms = self.is_put_out, False, 0
        self.appearance = self.appearance_for = None
        self.offers = ()

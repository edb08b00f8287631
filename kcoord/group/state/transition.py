"""The transition in progress: one turn of a shard, with its state, the time, and the step that it makes.

A record is replayed as soon as it is written. So everything after it in the same turn sees what a restart would see.

The floor `modern/` has the rules for groups without a barrier, whatever their kind. What differs from kind to kind, it
asks of a `Kind`: what a record looks like, what a member's protocol wants, and what follows from a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kcoord.assign.model import Member as AssignorMember
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.connect_group import Configured, ConnectGroup, ConnectMember
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember
from kcoord.group.state.groups.modern_group import AnyGroup
from kcoord.group.state.journal import Journal
from kcoord.group.state.metrics import ModernCounters
from kcoord.group.state.records import connect_records, consumer_records
from kcoord.group.state.replay import replay
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import CachedReply, Reply, Step, Token
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frozen_class import frozen
from kcoord.protocol.message_base import Response
from kcoord.protocol.records import Record
from kcoord.resource import Resource

# -- what a kind of groups without a barrier brings -------------------------------------------------------------------


class Records(Protocol):
    """The records that the rules of `modern/` write, in the format of one kind: for connect groups the module
    `records/connect_records.py`.
    """

    def group_epoch(self, group: Any, epoch: int, reason: str, wall_ms: int, /) -> Record:
        """The group epoch, why it was bumped, and when."""

    def member_metadata(self, group_id: str, member_id: str, metadata: None, /) -> Record:
        """The member is gone."""

    def current_assignment(
        self, group: Any, member: Any, current: frozenset[Any], epoch: int, previous: int, /
    ) -> Record:
        """What a member may be running, and its epoch."""

    def no_current(self, group_id: str, member_id: str, /) -> Record:
        """The member is gone and runs nothing any more."""

    def history(self, group_id: str, epoch: int, entry: Any, /) -> Record:
        """The history of one group epoch; None: it is too old to keep."""

    def history_entry(self, reason: str, wall_ms: int, /) -> Any:
        """A history entry of a group epoch that has just begun. Its fields have the same names in all kinds."""

    def history_move(self, giver: str, taker: str, resources: Sequence[Any], /) -> Any:
        """In an entry of the history: what moved from one member to another; "" is nobody."""


class Dialect(Protocol):
    """What depends on the protocol that a member speaks: its kind's own, or the classic one."""

    def open_session(self, transition: Transition, group: Any, member: Any, /) -> None:
        """Open the session of a member that was loaded, and whose common state is there."""

    def is_waiting(self, member: Any, /) -> bool:
        """Whether a request of the member waits here, so that its session cannot end."""

    def flush_held_reply(self, transition: Transition, group: Any, member: Any, /) -> None:
        """Send the member's held answer as it is now."""

    def refuse_all(self, transition: Transition, group: Any, member: Any, error: ErrorCode, /) -> None:
        """Answer everything that waits for the member with an error."""

    def notify(self, transition: Transition, group: Any, member: Any, /) -> None:
        """Answer what waits for the member, or call it, if this step has changed something for it."""

    def needs_no_record(self, transition: Transition, group: Any, member: Any, /) -> bool:
        """Whether the member's held answer can be sent while nothing can be written."""


class Kind(Protocol):
    """A kind of groups without a barrier. The groups and members that it is given are its own."""

    @property
    def records(self) -> Records:
        """Its records."""

    def dialect(self, member: Any, /) -> Dialect:
        """The dialect of one of its members."""

    @property
    def settle(self) -> Callable[[Transition, Any], None]:
        """Brings a group to rest after a change."""

    @property
    def sweep(self) -> Callable[[Transition, Any], None]:
        """Does everything that is due in a group."""


# -- connect groups ---------------------------------------------------------------------------------------------------


class ConnectDialect(Dialect, Protocol):
    """A dialect of connect groups: the new one (`connect/native_dialect.py`), or the classic one
    (`conversion/classic_dialect.py`).
    """

    @property
    def evicted_error(self) -> ErrorCode:
        """What a member is told that has been excluded."""

    @property
    def inherits_by_url(self) -> bool:
        """Whether a member gets what waits for a departed one with the same url."""

    def assignor_input(
        self, group: ConnectGroup, member: ConnectMember, assignor: str, target: frozenset[Resource], /
    ) -> AssignorMember:
        """The member as that assignor sees it, if it ran `target` already."""


class ClassicSide(ConnectDialect, Protocol):
    """The dialect of classic members, and what the upper floors do for all of them in a connect group together."""

    def go_on_after_load(self, transition: Transition, group: ConnectGroup, /) -> None:
        """Go on with what classic members do together, in a group that was loaded."""

    def sweep(self, transition: Transition, group: ConnectGroup, /) -> None:
        """Do what is due."""

    def next_ms(self, group: ConnectGroup, now_ms: int, /) -> int:
        """When to look again at the latest."""

    def settle(self, transition: Transition, group: ConnectGroup, /) -> bool:
        """Do what follows from a change. True if this has changed something, so that there may be more to do."""

    def convert(self, transition: Transition, group: ConnectGroup, /) -> None:
        """Make the group a classic group if it is to be one now."""

    def may_lead(self, group: ConnectGroup, chosen: str, /) -> bool:
        """Whether that worker may compute now."""

    def ensure_look(self, transition: Transition, group: ConnectGroup, /, *, is_led_by_others: bool) -> None:
        """Call the leader if it has to be asked what exists."""

    def is_frozen(self, transition: Transition, group: ConnectGroup, /) -> bool:
        """Whether nothing may be placed before the leader has said what exists."""

    def keep_change_together(self, transition: Transition, group: ConnectGroup, known: Configured | None, /) -> None:
        """Open a config round if other connectors and tasks exist than `known`."""


@frozen(slots=True, eq=False)
class ConnectKind:
    """The kind of connect groups (`Kind`)."""

    native: ConnectDialect
    classic: ClassicSide
    settle: Callable[[Transition, ConnectGroup], None]
    sweep: Callable[[Transition, ConnectGroup], None]
    records: Records = connect_records

    def dialect(self, member: ConnectMember) -> ConnectDialect:
        """The dialect of a member of a connect group."""
        return self.native if member.classic is None else self.classic


# -- consumer groups --------------------------------------------------------------------------------------------------


class ClassicConsumers(Dialect, Protocol):
    """The dialect of classic members, and what the upper floors do with a group that has only these."""

    def convert(self, transition: Transition, group: ConsumerGroup, /) -> bool:
        """Make the group a classic group if it is to be one now. Whether it is one."""

    def wish(self, member: ConsumerMember, /) -> str | None:
        """Which server-side assignor kcoord uses for a classic member, instead of the member's own. None if there is no
        such assignor.
        """


@frozen(slots=True, eq=False)
class ConsumerKind:
    """The kind of consumer groups (`Kind`)."""

    native: Dialect
    classic: ClassicConsumers
    settle: Callable[[Transition, ConsumerGroup], None]
    sweep: Callable[[Transition, ConsumerGroup], None]
    records: Records = consumer_records

    def dialect(self, member: ConsumerMember) -> Dialect:
        """The dialect of a member of a consumer group."""
        return self.classic if member.is_classic else self.native


# -- the transition ---------------------------------------------------------------------------------------------------


@frozen(slots=True, eq=False)
class Transition:
    """The handling of one request, or of what is due at one time."""

    state: ShardState
    now_ms: int
    """Monotonic, for timers."""
    wall_ms: int
    """Unix time, for records."""
    step: Step
    journal: Journal
    """The state before the records that this part of the step has written."""
    connect: ConnectKind
    consumer: ConsumerKind

    def kind(self, group: AnyGroup) -> Kind:
        """The kind of a group."""
        return self.consumer if isinstance(group, ConsumerGroup) else self.connect

    def counters(self, group: AnyGroup) -> ModernCounters:
        """Where what happens in a group is counted."""
        return self.state.consumer_counters if isinstance(group, ConsumerGroup) else self.state.counters

    def write(self, record: Record) -> None:
        """Append `record` to the step and apply it."""
        self.journal.note(self.state, record)
        self.step.records.append(record)
        replay(self.state, record)

    def answer(self, token: Token, response: Response, cached: CachedReply | None = None) -> None:
        """Reply to the request that came with `token`."""
        self.step.replies.append(Reply(token, response, cached))

    def wake(self, group: ClassicGroup | AnyGroup, at_ms: int) -> None:
        """Have the shard look at `group` again at `at_ms` at the latest."""
        self.state.deadlines.want(group, at_ms)

"""One life of one consumer: its connection, its requests, and how it follows an assignment.

1. Heartbeats, commits and fetches of offsets go over one connection, each kind one at a time. They overtake nothing.
2. A new assignment is followed in this order: commit, let go of what was taken away, begin with what is new, confirm at
   once. A commit that cannot be done holds it up until the rebalance timeout at most. Letting go may take long.
3. An assignment that names a topic which the consumer's metadata lacks is followed as far as possible. Until it knows
   the topic it sends heartbeats without a pause, as Java 4.3 does.
4. It goes on reading while it cannot reach its coordinator: it learns late that it is a member no longer.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from kcoord.group.state.groups.consumer_group import NOTHING, Partitions
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentResponse,
    OffsetCommitResponse,
    OffsetFetchResponse,
)
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.consumer.computing import Computing
from kcoord.sim.consumer.consumption import Consumption
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.membership import ELSEWHERE, ConsumerMembership, Heard
from kcoord.sim.consumer.requests import Purpose, Requests
from kcoord.sim.process import ProcessJudge

HEARTBEATS, OFFSETS, COMPUTING = 1, 9, 0
VERSIONS = {
    Purpose.HEARTBEAT: HEARTBEATS,
    Purpose.FAREWELL: HEARTBEATS,
    Purpose.COMMIT: OFFSETS,
    Purpose.FETCH: OFFSETS,
    Purpose.COMPUTE: COMPUTING,
}
"""The versions of its requests."""
RETRIED = frozenset((ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.STALE_MEMBER_EPOCH))
"""Errors after which a commit is repeated; the second one only if the consumer must commit before it goes on."""
RETRY_MS = 100
LEARNS_AGAIN_MS = 500
"""How long after a look that found nothing a consumer looks for a topic again."""
CLOSE_MS = 5_000
"""How long a consumer that ends tries to do that in order."""
HANGS_MS = 20_000
"""How long it takes to let go of partitions, if that hangs."""


class Phase(Enum):
    """What a consumer is doing."""

    POLLING = "what its group wants"
    AWAY = "nothing: its application does not poll"
    COMMITTING_LAST = "it ends, and commits first"
    SAYING_FAREWELL = "it ends"


class ConsumerProcess(AnyConsumer):
    """One life of one consumer."""

    def __init__(
        self,
        context: ConsumerContext,
        judge: ProcessJudge,
        name: str,
        membership: ConsumerMembership,
        patience_ms: int,
        ended: Callable[[ErrorCode], None],
    ) -> None:
        super().__init__(context, judge, name)
        self.membership = membership
        self.group_id = membership.group_id
        self.member_id = membership.member_id
        self._names = {topic.id: topic.name for topic in context.topics.values()}
        self.consumption = Consumption(membership, self._names, context.random)
        self.phase = Phase.POLLING
        self.commits = {}
        self.requests = Requests(patience_ms)
        self._ended = ended
        self._permanent = True
        self._is_learning = False
        self._beats_at_ms = self._commits_at_ms = self._fetches_at_ms = 0
        self._follows: Partitions | None = None
        """The assignment that it is about to follow."""
        self._commits_first = False
        """Whether it must commit before it goes on with that."""
        self._follows_until_ms = 0
        self._computing = Computing(context, membership)
        self._turn = 0
        """Counts assignments, so that what was meant for an earlier one is ignored."""

    @property
    def subscribed(self) -> frozenset[str]:
        return self.membership.subscribed

    @property
    def is_joining(self) -> bool:
        return not self.membership.epoch

    @property
    def epoch(self) -> int:
        return self.membership.epoch

    @property
    def lacks_metadata(self) -> bool:
        """Whether it was told a topic that it does not know."""
        return any(topic_id not in self._names for topic_id, _ in self.membership.target)

    @property
    def is_settled(self) -> bool:
        membership, positions = self.membership, self.consumption.positions
        return (
            self.phase is Phase.POLLING
            and self.consumption.partitions == membership.owned == membership.target
            and not membership.has_to_say
            and None not in positions.values()
        )

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Join."""
        self._seek()

    def kill(self) -> None:
        """The process dies at once."""
        super().kill()
        self.consumption.change(NOTHING)

    def leave(self, permanent: bool) -> None:
        """Commit, leave, end."""
        if not self.alive or self._later(self.leave, permanent) or self.phase not in (Phase.POLLING, Phase.AWAY):
            return
        self.phase, self._permanent = Phase.COMMITTING_LAST, permanent
        self._turn += 1
        self._follows, self._commits_first = None, True
        self._commits_at_ms = self._events.now_ms
        self._events.after(CLOSE_MS, self._give_up)
        self._polled()

    def stop_polling(self, ms: int) -> None:
        if not self.alive or self._later(self.stop_polling, ms) or self.phase is not Phase.POLLING:
            return
        self._context.note(self.name, f"does not poll, for {ms} ms more")
        self.phase = Phase.AWAY
        if self.link is not None and self.membership.epoch > 0:
            self._ask(Purpose.FAREWELL, self.membership.farewell(permanent=False))
        self._drop()
        self._events.after(ms, self._poll_again)

    def _poll_again(self) -> None:
        if self.alive and not self._later(self._poll_again) and self.phase is Phase.AWAY:
            self.phase = Phase.POLLING
            self._beats_at_ms = self._events.now_ms
            self._polled()

    def subscribe(self, names: frozenset[str]) -> None:
        """The next heartbeat says so."""
        if self.alive and not self._later(self.subscribe, names):
            self.membership.subscribed = names

    def wish(self, assignor: str | None) -> None:
        """Whoever has wished for one cannot take that back."""
        if self.alive and assignor is not None and not self._later(self.wish, assignor):
            self.membership.wish(assignor)

    def say_more(self) -> None:
        """The next heartbeat says something else for its own assignors."""
        if self.alive and not self._later(self.say_more):
            self.membership.say_more()

    def hear_configuration(self) -> None:
        """Read the metadata of the cluster."""
        self._names.update((topic.id, topic.name) for topic in self._context.topics.values())

    def _drop(self) -> None:
        """It is a member no longer: everything that it has is lost."""
        self._turn += 1
        self._follows, self._commits_first = None, False
        self.consumption.change(NOTHING)
        self.membership.drop()
        self.requests.forget(Purpose.HEARTBEAT)
        self.requests.forget(Purpose.COMPUTE)
        self._computing.give_up()
        self.excused = False

    # -- requests -----------------------------------------------------------------------------------------------------

    def _wanted_at(self) -> int | None:
        if self.link is None:
            return None
        at_ms = [self.requests.next_timeout_ms(self.membership.interval_ms)]
        if self.phase is Phase.POLLING and not self.requests.waits(Purpose.HEARTBEAT):
            at_ms.append(self._beats_at_ms)
        if not self.requests.waits(Purpose.COMMIT) and self.phase is not Phase.AWAY:
            at_ms.append(self._commits_at_ms)
        if self.consumption.unknown and not self.requests.waits(Purpose.FETCH):
            at_ms.append(self._fetches_at_ms)
        return min(at_ms)

    def _polled(self) -> None:
        now_ms = self._events.now_ms
        if not self.alive or self.link is None:
            return
        if self.requests.next_timeout_ms(self.membership.interval_ms) <= now_ms:
            self._reconnect(gives_up=True)
            return
        if not self.requests.waits(Purpose.COMMIT) and self._commits_at_ms <= now_ms:
            self._commit()
        unknown = self.consumption.unknown
        if unknown and self._fetches_at_ms <= now_ms and not self.requests.waits(Purpose.FETCH):
            self._ask(Purpose.FETCH, self.consumption.fetch())
        is_free = self.phase is Phase.POLLING and not self.requests.waits(Purpose.HEARTBEAT)
        if is_free and self._beats_at_ms <= now_ms:
            self._ask(Purpose.HEARTBEAT, self.membership.heartbeat())
            self._beats_at_ms = now_ms + self.membership.interval_ms
        if self.alive:
            self._timed()

    def _ask(self, purpose: Purpose, request: Request) -> None:
        number = self.requests.add(purpose, self._events.now_ms)
        self._send(number, request, VERSIONS[purpose])

    def _reconnect(self, *, gives_up: bool = False) -> None:
        """`gives_up`: it has waited for an answer for too long, and closes the connection itself."""
        self._no_answers_any_more(says_all=not gives_up or self.requests.is_patient)
        self._seek()

    def _connected(self) -> None:
        self._beats_at_ms = self._fetches_at_ms = self._events.now_ms
        self._polled()

    def _unreachable(self) -> None:
        self._events.after(RETRY_MS, self._found, self._seeking)

    def _disconnected(self) -> None:
        self._reconnect()

    def _no_answers_any_more(self, *, says_all: bool = True) -> None:
        if says_all:
            self.membership.forget_sent()
        else:
            self.membership.repeat_unanswered()
        self.requests.forget_all()
        self._computing.give_up()
        if self.phase is Phase.SAYING_FAREWELL:
            self._end(ErrorCode.NONE)

    def _seek(self) -> None:
        if self.alive:
            super()._seek()

    def _answered(self, number: int, response: Response) -> None:
        purpose, sent_ms = self.requests.answered(number)
        match response:
            case ConsumerGroupHeartbeatResponse() if purpose is Purpose.HEARTBEAT:
                self._heartbeat_answered(response, sent_ms)
            case ConsumerGroupHeartbeatResponse() if purpose is Purpose.FAREWELL:
                if self.phase is Phase.SAYING_FAREWELL:
                    self._end(ErrorCode.NONE)
            case OffsetCommitResponse() if purpose is Purpose.COMMIT:
                self._committed(response, number)
            case OffsetFetchResponse() if purpose is Purpose.FETCH:
                self._fetched(response)
            case ConsumerGroupPrepareAssignmentResponse() if purpose is Purpose.COMPUTE:
                takes_ms = self._computing.prepared(response)
                if takes_ms is not None:
                    self._events.after(takes_ms, self._install, self._computing.turn)
            case ConsumerGroupInstallAssignmentResponse() if purpose is Purpose.COMPUTE:
                self._computing.installed(response)
        if self.alive:
            self._polled()

    def _install(self, turn: int) -> None:
        if not self.alive or self._later(self._install, turn) or self.link is None:
            return
        if turn == self._computing.turn and self.membership.epoch > 0 and self.phase is Phase.POLLING:
            self._ask(Purpose.COMPUTE, self._computing.install())
            self._timed()

    # -- membership ---------------------------------------------------------------------------------------------------

    def _heartbeat_answered(self, response: ConsumerGroupHeartbeatResponse, sent_ms: int) -> None:
        now_ms, membership = self._events.now_ms, self.membership
        match membership.heard(response):
            case Heard.FINE:
                self._beats_at_ms = sent_ms + membership.interval_ms
                if self.lacks_metadata or (membership.has_to_confirm and membership.owned == membership.target):
                    self._beats_at_ms = now_ms
                self._follow()
                if response.should_compute_assignment and self._computing.begins():
                    self._ask(Purpose.COMPUTE, self._computing.prepare())
            case Heard.AGAIN:
                self._beats_at_ms = now_ms + RETRY_MS
            case Heard.ELSEWHERE:
                self._reconnect()
            case Heard.FENCED:
                self._drop()
                self._beats_at_ms = now_ms
            case Heard.FATAL:
                if self.phase is Phase.POLLING:
                    self._end(ErrorCode(response.error_code))

    def _follow(self) -> None:
        """Begin to follow the assignment that it was told last."""
        membership = self.membership
        if self._follows is not None and membership.target == membership.owned:
            self._turn += 1  # it has what it is to have: Java gives up what it was about to do
            self._follows, self._commits_first = None, False
        if self._follows is not None or self.phase is not Phase.POLLING:
            return
        if self.lacks_metadata and not self._is_learning:
            self._is_learning = True
            self._events.after(1 + self._context.metadata_ms(), self._learn)
        known = frozenset(each for each in membership.target if each[0] in self._names)
        if known == membership.owned:
            return
        self._turn += 1
        self._follows = known
        self._follows_until_ms = self._events.now_ms + membership.rebalance_timeout_ms
        self._commits_first, self._commits_at_ms = True, self._events.now_ms
        self._events.after(membership.rebalance_timeout_ms, self._commit_no_longer, self._turn)
        self._polled()

    def _learn(self) -> None:
        if not self.alive or self._later(self._learn):
            return
        self._is_learning = False
        self.hear_configuration()
        if self.lacks_metadata:
            self._is_learning = True
            self._events.after(LEARNS_AGAIN_MS, self._learn)
        self._follow()

    def _commit_no_longer(self, turn: int) -> None:
        if turn == self._turn and self.alive and not self._later(self._commit_no_longer, turn):
            self._has_committed()

    def _has_committed(self) -> None:
        """It has committed, or cannot: it goes on with what it wanted to do then."""
        if not self._commits_first:
            return
        self._commits_first = False
        if self.phase is Phase.COMMITTING_LAST:
            self._say_farewell()
        elif self._follows is not None:
            gone = self.membership.owned - self._follows
            takes_ms = self._context.stop_ms() if gone else 0
            takes_ms = HANGS_MS if takes_ms is None else takes_ms
            if gone and self._context.tracing:
                self._context.note(self.name, f"lets go of {len(gone)} partitions in {takes_ms} ms")
            self._events.after(takes_ms, self._has_let_go, self._turn)

    def _has_let_go(self, turn: int) -> None:
        if turn != self._turn or not self.alive or self._later(self._has_let_go, turn):
            return
        assert self._follows is not None
        self.membership.owned, self._follows = self._follows, None
        self.consumption.change(self.membership.owned)
        self._judge.judge(self)
        self._beats_at_ms = self._fetches_at_ms = self._events.now_ms
        self._follow()
        self._polled()

    def _say_farewell(self) -> None:
        self.phase = Phase.SAYING_FAREWELL
        self.consumption.change(NOTHING)
        if self.link is None or self.membership.epoch <= 0:
            self._end(ErrorCode.NONE)
        else:
            self._ask(Purpose.FAREWELL, self.membership.farewell(self._permanent))

    # -- offsets ------------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        self._commits_at_ms = self._events.now_ms + self._context.consumers.commits_ms
        if not self._commits_first:
            self.consumption.go_on()
        if self.consumption.known and self.membership.epoch > 0:
            request, about = self.consumption.commit()
            self.commits[self.requests.next_number] = about
            self._ask(Purpose.COMMIT, request)
        else:
            self._has_committed()

    def _committed(self, response: OffsetCommitResponse, number: int) -> None:
        errors = {each.error_code for topic in response.topics for each in topic.partitions} - {ErrorCode.NONE}
        if errors & ELSEWHERE:
            self._reconnect()
        elif ErrorCode.COORDINATOR_LOAD_IN_PROGRESS in errors or (
            ErrorCode.STALE_MEMBER_EPOCH in errors and self._commits_first
        ):
            self._commits_at_ms = self._events.now_ms + RETRY_MS
        else:
            self._has_committed()

    def _fetched(self, response: OffsetFetchResponse) -> None:
        error = response.groups[0].error_code
        if error in ELSEWHERE:
            self._reconnect()
        elif error:
            self._fetches_at_ms = self._events.now_ms + RETRY_MS
        else:
            self.consumption.fetched(response)

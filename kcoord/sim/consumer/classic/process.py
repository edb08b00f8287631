"""One life of one classic consumer: its connection, its rounds, and what it does with an assignment.

1. It joins when it has not yet, when it was called, when it subscribes to something else, and, if it leads a classic
   group, when topics are others than those that it has dealt out.
2. An eager consumer commits and lets go of all that it has before it joins. A cooperative one keeps it, lets go
   afterwards of what it was not given again, commits before that, and joins once more.
3. A commit that cannot be done holds it up until the rebalance timeout at most. Letting go may take long. Heartbeats go
   out meanwhile, unless that takes longer than the rebalance timeout: then it leaves by itself.
4. Thrown out, it drops all that it has.
5. It knows topics by their names only, so in runs with classic consumers no topic is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

import attrs

from kcoord.group.state.groups.consumer_group import Partition
from kcoord.group.state.topic import Topic
from kcoord.protocol.consumer_embedded import decode_assignment, decode_subscription, encode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import JoinGroupResponse, OffsetCommitResponse, OffsetFetchResponse
from kcoord.sim.classic_worker.actions import Send
from kcoord.sim.classic_worker.client import (
    NEVER_MS,
    NO_GENERATION,
    ClientState,
    Fate,
    GroupClient,
    Outcome,
)
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.consumer.classic.leading import VERSION, deal, encode_subscription, generation_in, numbers_by_topic
from kcoord.sim.consumer.classic.setup import ConsumerSetup
from kcoord.sim.consumer.consumption import Consumption, Named
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.membership import ELSEWHERE
from kcoord.sim.consumer.process import CLOSE_MS, HANGS_MS, OFFSETS, RETRY_MS
from kcoord.sim.consumer.requests import Purpose, Requests
from kcoord.sim.process import ProcessJudge

OFFSET_REQUESTS = 1_000_000
"""The number of the first request about offsets: the client below counts its own requests from 1."""
METADATA_MS = 3_000
"""How often it reads the metadata of the cluster."""
THROWN_OUT = frozenset((ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION))


class Phase(Enum):
    """What the thread of its application is doing."""

    POLLING = "what its group wants"
    LETTING_GO = "it commits, and lets go of partitions"
    AWAY = "nothing: it does not poll"
    ENDING = "it commits, and ends"


@attrs.frozen
class Identity:
    """Who it is in its commits."""

    setup: ConsumerSetup
    client: GroupClient

    @property
    def group_id(self) -> str:
        return self.setup.group_id

    @property
    def instance_id(self) -> str | None:
        return self.setup.instance_id

    @property
    def member_id(self) -> str:
        return self.client.generation.member_id

    @property
    def epoch(self) -> int:
        return self.client.generation.number

    @property
    def fetches_as(self) -> tuple[str | None, int]:
        """A classic consumer fetches offsets in nobody's name."""
        return None, NO_GENERATION


class ClassicConsumerProcess(AnyConsumer):
    """One life of one classic consumer."""

    def __init__(
        self,
        context: ConsumerContext,
        judge: ProcessJudge,
        name: str,
        setup: ConsumerSetup,
        subscribed: frozenset[str],
        ended: Callable[[ErrorCode], None],
    ) -> None:
        super().__init__(context, judge, name)
        self.setup = setup
        self.group_id = setup.group_id
        self.client = GroupClient(setup, self._offered, self._elected)
        self.member_id = ""
        self.phase = Phase.POLLING
        self.commits = {}
        self._subscribed = self._said = subscribed
        """What it subscribes to, and what it has said last."""
        self._topics: Mapping[str, Topic] = context.topics
        """The topics of the cluster, as far as it knows."""
        self._names = {topic.id: topic.name for topic in context.topics.values()}
        self.consumption = Consumption(Identity(setup, self.client), self._names, context.random)
        self._requests = Requests(0)
        self._requests.next_number = OFFSET_REQUESTS
        self._ended = ended
        self._owned: dict[Named, Partition | None] = {}
        """What it has, as its assignment names it, and as it reads it."""
        self._owned_since = NO_GENERATION
        self._dealt: Mapping[str, int] | None = None
        """The topics that it has dealt out as the leader of its group."""
        self._joins_at_ms = self._commits_at_ms = self._fetches_at_ms = self._learns_at_ms = 0
        self._commits_first = False
        self._kept: dict[Named, Partition | None] = {}
        """What is left when it has let go."""
        self._afterwards: Callable[[], None] = self._turn
        self._turns = 0
        """Counts what it lets go of, so that what was meant for an earlier time is ignored."""

    @property
    def subscribed(self) -> frozenset[str]:
        return self._subscribed

    @property
    def is_joining(self) -> bool:
        return self.client.state is not ClientState.STABLE

    @property
    def epoch(self) -> int:
        return self.client.generation.number

    @property
    def is_settled(self) -> bool:
        client = self.client
        wants = self._wants_to_join or client.under_way
        knows = None not in self.consumption.positions.values()
        return self.phase is Phase.POLLING and client.state is ClientState.STABLE and not wants and knows

    @property
    def _wants_to_join(self) -> bool:
        client = self.client
        is_called = client.rejoin or client.wants_rejoin
        has_others = self._dealt is not None and self._dealt != self._counts(self._dealt)
        return is_called or has_others or self._said != self._subscribed

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Join."""
        self.client.seek()
        self._polled()

    def kill(self) -> None:
        """The process dies at once."""
        super().kill()
        self._change({})

    def leave(self, permanent: bool) -> None:
        """Commit, leave, end. A static member keeps its place."""
        if not self.alive or self._later(self.leave, permanent) or self.phase is Phase.ENDING:
            return
        self._events.after(CLOSE_MS, self._give_up)
        self.phase = Phase.ENDING
        self._let_go({}, self._close)
        self._polled()

    def _close(self) -> None:
        self.client.close()
        self._carry_out()
        self._end(ErrorCode.NONE)

    def stop_polling(self, ms: int) -> None:
        if self.alive and not self._later(self.stop_polling, ms) and self.phase is Phase.POLLING:
            self._context.note(self.name, f"does not poll, for {ms} ms more")
            self.phase, self.client.polled_ms = Phase.AWAY, self._events.now_ms
            self._events.after(ms, self._poll_again)

    def _poll_again(self) -> None:
        if self.alive and not self._later(self._poll_again) and self.phase is Phase.AWAY:
            self.phase = Phase.POLLING
            self._polled()

    def subscribe(self, names: frozenset[str]) -> None:
        if self.alive and not self._later(self.subscribe, names):
            self._subscribed = names
            self._polled()

    def wish(self, assignor: str | None) -> None:
        """It cannot say what it wishes."""

    def hear_configuration(self) -> None:
        """Read the metadata of the cluster."""
        self._learns_at_ms = self._events.now_ms + METADATA_MS
        self._topics = self._context.topics
        self._names.update((topic.id, topic.name) for topic in self._topics.values())
        if None in self._owned.values():
            self._change(self._owned)

    # -- what the thread of its application does ----------------------------------------------------------------------

    def _turn(self) -> None:
        client = self.client
        while self.alive and self.phase is Phase.POLLING:
            if client.broken:
                self._end(ErrorCode.FENCED_INSTANCE_ID)
            elif client.under_way:
                if client.outcome is None:
                    return
                self._round_ended(client.outcome)
            elif not self._may_join:
                return
            elif client.needs_prepare:
                client.needs_prepare = False
                self._prepare()
            else:
                client.join()

    @property
    def _may_join(self) -> bool:
        return self._wants_to_join and self.client.up and self._joins_at_ms <= self._events.now_ms

    def _round_ended(self, outcome: Outcome) -> None:
        client = self.client
        match outcome.fate:
            case Fate.SYNCED if client.state is not ClientState.STABLE:
                client.failed(outcome)  # it was thrown out, or has left, since
            case Fate.SYNCED:
                client.completed()
                client.wants_rejoin = False
                self._assigned(outcome.assignment)
            case Fate.AGAIN:
                client.failed(outcome)
            case Fate.LATER:
                client.failed(outcome)
                self._joins_at_ms = self._events.now_ms + RETRY_MS
            case Fate.FATAL:
                self._end(ErrorCode.UNKNOWN_SERVER_ERROR)

    def _prepare(self) -> None:
        """Make ready to join. Then it does join, though it may subscribe by then to what it has said before."""
        self.client.wants_rejoin = True
        if self.client.generation.number == NO_GENERATION:
            self._change({})  # it was thrown out, or has not been in
            self.excused = False
        elif self.setup.is_cooperative:
            self._change({name: each for name, each in self._owned.items() if name[0] in self._subscribed})
        else:
            self._let_go({}, self._turn)

    def _assigned(self, data: bytes) -> None:
        given: dict[Named, Partition | None] = dict.fromkeys(decode_assignment(data).partitions)
        if any(name not in self._subscribed for name, _ in given):
            self.client.wants_rejoin = True  # it was told before it said what it subscribes to now
            return
        if self._context.tracing:
            generation = self.client.generation.number
            self._context.note(self.name, f"is given {sorted(given)} at generation {generation}")
        kept = {name: each for name, each in self._owned.items() if name in given}
        given |= kept
        generation = self.client.generation.number
        if kept.keys() == self._owned.keys():
            self._take(given, generation)
            return

        def take() -> None:
            self._take(given, generation)
            self.client.wants_rejoin = True
            self._turn()

        self._let_go(kept, take)

    def _take(self, given: dict[Named, Partition | None], generation: int) -> None:
        """It has what it was given in that generation, and nothing else."""
        self.excused, self._owned_since = False, generation
        self._change(given)

    def _change(self, owned: dict[Named, Partition | None]) -> None:
        """It has this from now on. What it does not know yet it reads later."""
        known = {topic.name: topic.id for topic in self._topics.values()}
        self._owned = {
            (name, number): each or ((known[name], number) if name in known else None)
            for (name, number), each in owned.items()
        }
        self.consumption.change(frozenset(each for each in self._owned.values() if each is not None))
        self._fetches_at_ms = self._events.now_ms
        self._judge.judge(self)

    # -- letting go ---------------------------------------------------------------------------------------------------

    def _let_go(self, kept: dict[Named, Partition | None], then: Callable[[], None]) -> None:
        """Commit, let go of all but `kept`, and go on with `then`."""
        now_ms = self._events.now_ms
        self._turns += 1
        if self.phase is Phase.POLLING:
            self.phase, self.client.polled_ms = Phase.LETTING_GO, now_ms
        self._kept, self._afterwards = kept, then
        self._commits_first, self._commits_at_ms = True, now_ms
        self._events.after(self.setup.rebalance_timeout_ms, self._commit_no_longer, self._turns)
        self._commit()

    def _commit_no_longer(self, turn: int) -> None:
        if turn == self._turns and self.alive and not self._later(self._commit_no_longer, turn):
            self._has_committed()

    def _has_committed(self) -> None:
        if not self._commits_first:
            return
        self._commits_first = False
        gone = self._owned.keys() - self._kept.keys()
        takes_ms = self._context.stop_ms() if gone else 0
        takes_ms = HANGS_MS if takes_ms is None else takes_ms
        if gone and self._context.tracing:
            self._context.note(self.name, f"lets go of {len(gone)} partitions in {takes_ms} ms")
        self._events.after(takes_ms, self._has_let_go, self._turns)

    def _has_let_go(self, turn: int) -> None:
        if turn != self._turns or not self.alive or self._later(self._has_let_go, turn):
            return
        self._turns += 1
        self._change(self._kept)
        if self.phase is Phase.LETTING_GO:
            self.phase = Phase.POLLING
        self._afterwards()
        if self.alive:
            self._polled()

    # -- rounds -------------------------------------------------------------------------------------------------------

    def _offered(self) -> list[JoinGroupRequestProtocol]:
        self._dealt, self._said = None, self._subscribed
        said = encode_subscription(self._said, self._owned, self._owned_since)
        return [JoinGroupRequestProtocol(self.setup.assignor, said)]

    def _elected(self, response: JoinGroupResponse) -> dict[str, bytes]:
        members = {each.member_id: decode_subscription(each.metadata) for each in response.members}
        names = {name for said in members.values() for name in said.topics}
        self._dealt = self._counts(dict.fromkeys(names, 0))
        if response.skip_assignment:
            return {}  # a static leader that comes back: all go on with what they have
        generations = {each.member_id: generation_in(each.metadata) for each in response.members}
        given = deal(members, generations, self._dealt, is_cooperative=self.setup.is_cooperative)
        return {member: encode_assignment(VERSION, numbers_by_topic(each)) for member, each in given.items()}

    def _counts(self, names: Mapping[str, int]) -> dict[str, int]:
        """How many partitions each of these topics has, as far as it knows."""
        known = self._topics
        return {name: known[name].partitions if name in known else 0 for name in sorted(names)}

    # -- requests and time --------------------------------------------------------------------------------------------

    def _wanted_at(self) -> int | None:
        at_ms = [self.client.wake_at(), self._learns_at_ms]
        if self.client.up:
            at_ms.append(self._requests.next_timeout_ms(0))
            if self._may_commit:
                at_ms.append(self._commits_at_ms)
            if self.consumption.unknown and not self._requests.waits(Purpose.FETCH):
                at_ms.append(self._fetches_at_ms)
            if self._joins_at_ms > self._events.now_ms:
                at_ms.append(self._joins_at_ms)
        return min(at_ms)

    @property
    def _may_commit(self) -> bool:
        is_member = self.client.state is ClientState.STABLE and not self.client.under_way
        return (is_member or self._commits_first) and not self._requests.waits(Purpose.COMMIT)

    def _polled(self) -> None:
        client, now_ms = self.client, self._events.now_ms
        if not self.alive:
            return
        if self._learns_at_ms <= now_ms:
            self.hear_configuration()
        client.now_ms = now_ms
        if self.phase is Phase.POLLING:
            client.polled_ms = NEVER_MS
        if client.up and self._requests.next_timeout_ms(0) <= now_ms:
            client.seek()
        client.tick()
        self._turn()
        self._ask_about_offsets()
        self._carry_out()

    def _ask_about_offsets(self) -> None:
        if not self.alive or not self.client.up:
            return
        now_ms = self._events.now_ms
        if self._may_commit and self._commits_at_ms <= now_ms:
            self._commit()
        if self.consumption.unknown and self._fetches_at_ms <= now_ms and not self._requests.waits(Purpose.FETCH):
            self._ask(Purpose.FETCH, self.consumption.fetch())

    def _carry_out(self) -> None:
        """Do what the client below asks for."""
        if not self.alive:
            return
        actions, self.client.out = self.client.out, []
        for action in actions:
            if isinstance(action, Send):
                if self.client.up:
                    self._send(action.number, action.request, action.version)
            else:
                self._no_answers_any_more()
                self._seek()
        self.member_id = self.client.generation.member_id
        self._timed()

    def _ask(self, purpose: Purpose, request: Request) -> None:
        self._send(self._requests.add(purpose, self._events.now_ms), request, OFFSETS)

    def _no_answers_any_more(self) -> None:
        self._requests.forget_all()
        self._commits_at_ms = self._events.now_ms

    def _connected(self) -> None:
        self.client.now_ms = self._events.now_ms
        self.client.connected()
        self._polled()

    def _unreachable(self) -> None:
        self._events.after(RETRY_MS, self._found, self._seeking)

    def _disconnected(self) -> None:
        self.client.now_ms = self._events.now_ms
        self.client.disconnected()
        self._polled()

    def _answered(self, number: int, response: Response) -> None:
        self.client.now_ms = self._events.now_ms
        if number < OFFSET_REQUESTS:
            self.client.received(number, response)
        else:
            purpose, _ = self._requests.answered(number)
            match response:
                case OffsetCommitResponse() if purpose is Purpose.COMMIT:
                    self._committed(response, number)
                case OffsetFetchResponse() if purpose is Purpose.FETCH:
                    self._fetched(response)
        if self.alive:
            self._polled()

    # -- offsets ------------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        self._commits_at_ms = self._events.now_ms + self._context.consumers.commits_ms
        if not self._commits_first:
            self.consumption.go_on()
        is_member = self.client.generation.number != NO_GENERATION
        if self.consumption.known and is_member:
            if self.client.up and not self._requests.waits(Purpose.COMMIT):
                request, about = self.consumption.commit()
                self.commits[self._requests.next_number] = about
                self._ask(Purpose.COMMIT, request)
        else:
            self._has_committed()

    def _committed(self, response: OffsetCommitResponse, number: int) -> None:
        errors = {ErrorCode(each.error_code) for topic in response.topics for each in topic.partitions}
        errors -= {ErrorCode.NONE}
        if errors & ELSEWHERE:
            self.client.seek()
        elif ErrorCode.COORDINATOR_LOAD_IN_PROGRESS in errors:
            self._commits_at_ms = self._events.now_ms + RETRY_MS
        else:
            if errors & THROWN_OUT and self.client.state is ClientState.STABLE:
                self.client.reset(forget_id=ErrorCode.UNKNOWN_MEMBER_ID in errors)
            elif ErrorCode.REBALANCE_IN_PROGRESS in errors:
                self.client.wants_rejoin = True
            self._has_committed()

    def _fetched(self, response: OffsetFetchResponse) -> None:
        error = response.groups[0].error_code
        if error in ELSEWHERE:
            self.client.seek()
        elif error:
            self._fetches_at_ms = self._events.now_ms + RETRY_MS
        else:
            self.consumption.fetched(response)

"""What does a test of consumer groups work with? One shard, its log, a clock that stands until it is moved, and
consumers' requests in short.

Partitions are written in short: "A0 A1 B0". The topics are A, B, C… with ids of their own. Each step's records are
kept, so that `restart` replays them into a new shard. Each step ends with two checks: a replay of all records gives the
same state, also when only the last record of each key is left; and what is always true (`consistency.py`) is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Partitions
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import CachedReply, RequestContext, Step
from kcoord.group.state.topic import Topic
from kcoord.protocol.consumer_embedded import decode_assignment
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_describe_response import DescribedGroup
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)
from kcoord.protocol.records import Record, decode_record, encode_record
from tests.group.consumer.consistency import check_consistent, durable
from tests.group.consumer.sides import flat
from tests.group.sabotage import Saboteur

GROUP = "g"
WALL_MS = 1_700_000_000_000
REBALANCE_MS = 30_000
SESSION_MS = 45_000
V1 = 1

HOW = ("connection", "version", "pipelined", "resolved", "seen", "is_patient")
"""What says how a heartbeat comes; everything else is in it."""

R = TypeVar("R", bound=Response)


def topic_id(name: str, incarnation: int = 0) -> bytes:
    """The id of the topic of that name; a topic that is made anew has another one."""
    return bytes(14) + bytes([incarnation]) + name.encode()


def topics(**partitions: int) -> dict[str, Topic]:
    """`topics(A=3)`: topic A with three partitions."""
    return {name: Topic(name, topic_id(name), count) for name, count in partitions.items()}


def parts(text: str) -> Partitions:
    """`"A0 A1"`: two partitions of topic A."""
    return frozenset((topic_id(each[0]), int(each[1:])) for each in text.split())


def text(partitions: Iterable[tuple[bytes, int]]) -> str:
    """The other way round, sorted."""
    return " ".join(f"{chr(topic[15])}{number}" for topic, number in sorted(partitions))


def wire(partitions: str) -> list[TopicPartitions]:
    """As a heartbeat carries them."""
    found: dict[bytes, list[int]] = {}
    for topic, number in sorted(parts(partitions)):
        found.setdefault(topic, []).append(number)
    return [TopicPartitions(topic, numbers) for topic, numbers in found.items()]


@attrs.frozen
class Told:
    """An answer to a heartbeat, in short."""

    error: ErrorCode
    epoch: int
    has: str | None
    """What the assignment says; None where there is none."""
    response: ConsumerGroupHeartbeatResponse

    @classmethod
    def of(cls, response: ConsumerGroupHeartbeatResponse) -> Told:
        given = response.assignment
        has = None if given is None else text(flat(given.topic_partitions))
        return cls(ErrorCode(response.error_code), response.member_epoch, has, response)

    @property
    def brief(self) -> tuple[int, str | None] | str:
        """Epoch and assignment, or the error."""
        return (self.epoch, self.has) if not self.error else self.error.name


class World:
    """One shard, and everybody's requests."""

    def __init__(self, settings: ConsumerSettings | None = None, known: Mapping[str, Topic] | None = None) -> None:
        self.settings = GroupSettings(consumer=settings or ConsumerSettings(heartbeat_wait_ms=0))
        self.now_ms = 1_000_000
        self.log: list[tuple[bytes, bytes | None]] = []
        self.steps: list[list[Record]] = []
        self.answers: dict[object, Response] = {}
        self.repeatable: dict[int, tuple[Request, RequestContext, Response, CachedReply]] = {}
        """By connection, what the hot path may answer by itself."""
        self._asked: dict[object, tuple[Request, RequestContext]] = {}
        self.saboteur: Saboteur | None = None
        """Breaks off a copy of each step first."""
        self.ids_made = 0
        self.wall_jump_ms = 0
        """How far the time of day has jumped."""
        self.took_ms = 0
        """How long each step takes that makes assignments, as the shard is told."""
        self.shard = Shard(self.settings, self._id)
        self.shard.state.topics = topics(A=4) if known is None else known
        self.shows: Mapping[str, Topic] | None = None
        """In front of a cluster: the topics that it has."""
        self._keep(self.shard.loaded(self.now_ms, self.wall_ms))

    def _id(self) -> str:
        self.ids_made += 1
        return f"id-{self.ids_made}"

    @property
    def wall_ms(self) -> int:
        return WALL_MS + self.now_ms + self.wall_jump_ms

    # -- requests -----------------------------------------------------------------------------------------------------

    def send(
        self,
        request: Request,
        connection: int = 1,
        version: int = V1,
        pipelined: bool = False,
        resolved: str | None = None,
        seen: SeenTopics | None = None,
        is_patient: bool = False,
    ) -> object:
        """One request; its answer is found in `answers` under the returned token when it is given. `resolved`: the
        topics that match its regular expression, "AB". `seen`: what the cluster has shown to its sender; unless said
        otherwise all that `shows` has.
        """
        token = object()
        if seen is None and self.shows is not None:
            seen = SeenTopics(self.shows, {})
        names = None if resolved is None else frozenset(resolved)
        context = RequestContext(
            version, "app", "/10.0.0.1", connection, self.wall_ms, pipelined, None, names, seen, is_patient
        )
        self._sabotage(token, lambda shard: shard.handle(request, context, token, self.now_ms))
        self._asked[token] = request, context
        self.repeatable.pop(connection, None)
        self._keep(self.shard.handle(request, context, token, self.now_ms))
        return token

    def ask(self, request: Request, answer: type[R], **how: Any) -> R:
        response = self.answers[self.send(request, **how)]
        assert isinstance(response, answer), response
        return response

    def beat(self, member: str, epoch: int, owned: str | None = None, **said: Any) -> Told:
        """A heartbeat that is answered at once. `said`: fields of the request, and how it comes (`connection`,
        `version`, `pipelined`).
        """
        told = self.told(self.send_beat(member, epoch, owned, **said))
        assert told is not None, "the answer waits"
        return told

    def send_beat(self, member: str, epoch: int, owned: str | None = None, **said: Any) -> object:
        """A heartbeat whose answer may wait."""
        how = {name: said.pop(name) for name in HOW if name in said}
        request = ConsumerGroupHeartbeatRequest(
            GROUP, member, epoch, topic_partitions=None if owned is None else wire(owned), **said
        )
        return self.send(request, **how)

    def told(self, token: object) -> Told | None:
        """The answer; None: it waits."""
        response = self.answers.get(token)
        assert response is None or isinstance(response, ConsumerGroupHeartbeatResponse)
        return None if response is None else Told.of(response)

    def join(self, member: str, subscribed: str | None = "A", **said: Any) -> Told:
        """Epoch 0 with all that a join needs; `subscribed`: topics, "AB"."""
        fields = {
            "rebalance_timeout_ms": REBALANCE_MS,
            "subscribed_topic_names": None if subscribed is None else list(subscribed),
        }
        return self.beat(member, 0, "", **{**fields, **said})

    def leave(self, member: str, **said: Any) -> Told:
        return self.beat(member, -1, **said)

    def commit(self, member: str, epoch: int, partitions: str) -> ErrorCode:
        """A commit of these partitions."""
        request = OffsetCommitRequest(
            GROUP,
            epoch,
            member,
            topics=[
                OffsetCommitRequestTopic(chr(topic[15]), partitions=[OffsetCommitRequestPartition(number, 7)])
                for topic, number in sorted(parts(partitions))
            ],
        )
        told = self.ask(request, OffsetCommitResponse, version=9, connection=0)
        (error,) = {part.error_code for topic in told.topics for part in topic.partitions}
        return ErrorCode(error)

    def describe(self, with_history: bool = False) -> DescribedGroup:
        request = ConsumerGroupDescribeRequest([GROUP], include_history=with_history)
        return self.ask(request, ConsumerGroupDescribeResponse, connection=0).groups[0]

    # -- time and faults ----------------------------------------------------------------------------------------------

    def pass_ms(self, ms: int) -> None:
        """Let time go on, doing what falls due on the way."""
        end_ms = self.now_ms + ms
        while (due := self.shard.next_deadline()) is not None and due <= end_ms:
            self.now_ms = max(self.now_ms, due)
            self._sabotage(None, lambda shard: shard.advance(self.now_ms, self.wall_ms))
            self._keep(self.shard.advance(self.now_ms, self.wall_ms))
        self.now_ms = end_ms

    def learn(self, known: Mapping[str, Topic], **resolutions: str) -> None:
        """These topics exist from now on. `resolutions`: regular expressions, and the topics that match, "AB"."""
        matches = {pattern: frozenset(names) for pattern, names in resolutions.items()} or None
        self._sabotage(None, lambda shard: shard.learn_topics(known, self.now_ms, self.wall_ms, matches))
        self._keep(self.shard.learn_topics(known, self.now_ms, self.wall_ms, matches))

    def put_in_front(self, shows: Mapping[str, Topic] | None) -> None:
        """From now on nobody but requests tells the shard of topics, with what a cluster shows that has these. None:
        each says so itself.
        """
        self.shard.state.topics, self.shows = None, shows

    def configure(self, values: Mapping[str, str]) -> None:
        """The group's own settings."""
        self._sabotage(None, lambda shard: shard.alter_config(GROUP, values, self.now_ms, self.wall_ms))
        self._keep(self.shard.alter_config(GROUP, values, self.now_ms, self.wall_ms))

    def restart(self, lose_ms: int = 0, compacted: bool = False) -> None:
        """The coordinator is killed, and loads its log after `lose_ms`."""
        known = self.shard.state.topics
        self.shard.drop()
        for *_, cached in self.repeatable.values():
            assert cached.basis.version != cached.version, "an answer of a lost shard may be repeated"
        self.repeatable.clear()
        self.now_ms += lose_ms
        self.shard = self._loaded(self._compacted() if compacted else self.log)
        self.shard.state.topics = known
        self._keep(self.shard.loaded(self.now_ms, self.wall_ms))

    def _loaded(self, log: Iterable[tuple[bytes, bytes | None]]) -> Shard:
        shard = Shard(self.settings, self._id)
        for key, value in log:
            shard.replay(decode_record(key, value))
        return shard

    def _compacted(self) -> list[tuple[bytes, bytes | None]]:
        """The last record of each key, without tombstones."""
        last = {key: at for at, (key, _) in enumerate(self.log)}
        return [entry for at, entry in enumerate(self.log) if last[entry[0]] == at and entry[1] is not None]

    def _sabotage(self, own: object | None, take: Any) -> None:
        if self.saboteur is not None:
            log = [decode_record(key, value) for key, value in self.log]
            self.saboteur.attack(self.shard, log, own, self.now_ms, take)

    def _keep(self, step: Step) -> None:
        step.checked()
        if step.computed:
            self.shard.took(step, self.took_ms)
        self.steps.append(step.records)
        self.log += [encode_record(record) for record in step.records]
        for reply in step.replies:
            self.answers[reply.token] = reply.response
            if reply.cached is not None and isinstance(reply.cached.session, ConsumerMember):
                request, context = self._asked[reply.token]
                self.repeatable[context.connection] = request, context, reply.response, reply.cached
        check_consistent(self.shard.state)
        self._check_repeatable()
        for log in (self.log, self._compacted()):
            told = ShardState(self.settings, self._id)
            replayed = Shard(self.settings, self._id)
            replayed.state = told
            for key, value in log:
                replayed.replay(decode_record(key, value))
            _settle(told)
            assert durable(told) == durable(self.shard.state)

    def _check_repeatable(self) -> None:
        """Every answer that may be repeated is the one that the shard would give (KG-15)."""
        for connection, (request, context, response, cached) in list(self.repeatable.items()):
            if cached.basis.version != cached.version:
                del self.repeatable[connection]
                continue
            member = cast(ConsumerMember, cached.session)
            before = member.last_seen_ms, member.answered_ms
            step = self.shard.handle(request, context, cached, self.now_ms)
            member.last_seen_ms, member.answered_ms = before
            assert not step.records
            assert [(reply.token, reply.response) for reply in step.replies] == [(cached, response)]

    # -- looking ------------------------------------------------------------------------------------------------------

    @property
    def group(self) -> ConsumerGroup:
        return self.shard.state.consumer[GROUP]

    def member(self, member_id: str) -> ConsumerMember:
        return self.group.members[member_id]

    def holds(self, member_id: str, partition: str) -> bool:
        """Whether the group, of whatever kind, has it that this member may consume that partition."""
        group = self.shard.state.consumer.get(GROUP)
        if group is not None:
            return member_id in group.members and parts(partition) <= group.members[member_id].current
        classic = self.shard.state.groups.get(GROUP)
        if classic is None or member_id not in classic.members:
            return False
        named = decode_assignment(classic.members[member_id].assignment).partitions
        return partition in {f"{name}{number}" for name, number in named}

    def row(self) -> tuple[int, dict[str, str]]:
        """The group as a row of a table: group epoch; each member's epoch, stage, assigned, and after a "-" pending."""
        return self.group.epoch, {each.member_id: standing(each) for each in self.group.members.values()}


def standing(member: ConsumerMember) -> str:
    """`5 STABLE A0 A1`, `4 UNREVOKED A0 - A1`."""
    told = f"{member.epoch} {member.stage.name} {text(member.assigned)}".rstrip()
    return f"{told} - {text(member.pending)}" if member.pending else told


def two(world: World | None = None) -> World:
    """a has A0 and A1, b has A2 and A3, both at epoch 3."""
    world = world or World()
    world.join("a")
    world.join("b", connection=2)
    world.beat("a", 2)
    world.beat("a", 2, "A0 A1")
    world.beat("b", 3, connection=2)
    assert world.row() == (3, {"a": "3 STABLE A0 A1", "b": "3 STABLE A2 A3"})
    return world


def _settle(state: ShardState) -> None:
    from kcoord.group.state.records.consumer_replay import settle_load

    settle_load(state)

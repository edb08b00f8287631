"""Whatever consumers, time, topics and loads do, in any order: nobody consumes what another consumes, and all comes to
rest.

Consumers that keep the protocol, as Java's does: one heartbeat at a time, what they own whenever it has changed or an
answer was lost, all they have to say when they join. Among them are silent deaths, lost answers, new connections,
changed subscriptions, topics that grow, appear, vanish and are made anew, loads, and static members that come back.
`World` checks after each step that owners are disjoint and that a replay gives the live state.
"""

from __future__ import annotations

from random import Random

import attrs
import pytest

from kcoord.group.consumer import next_assignment, reconciliation, topic_facts
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.groups.consumer_group import Partition, Partitions
from kcoord.group.state.topic import Topic
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from tests.group.consumer.sides import flat
from tests.group.consumer.world import GROUP, World, topic_id
from tests.light import fewer
from tests.sim.mutants import Mutant, put_in

SEEDS, EVENTS = fewer(60, 20), 120
PROOF_BLOCKS, PROOF_SEEDS = 10, 400
MUTANT_SEEDS = 120
"""A mutant must be noticed within so many seeds."""
SESSION_MS, BEAT_MS, REBALANCE_MS = 45_000, 5_000, 30_000
ASSIGNORS = (None, None, "uniform", "range")
GONE = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND)


@attrs.define(eq=False)
class Consumer:
    """One process."""

    name: str
    instance_id: str | None
    subscribed: str
    assignor: str | None
    connection: int
    epoch: int = 0
    runs: Partitions = frozenset()
    told: Partitions = frozenset()
    """What it is to consume. It goes on with the rest until it has let go of it, and begins with what is new then."""
    said: Partitions | None = None
    """What it last said that it owns, where the answer came."""
    sent: tuple[str, Partitions | None] = ("", None)
    """What its last heartbeat said: topics, and what it owns."""
    waits_for: object | None = None
    """The heartbeat whose answer has not come. It sends no other until then."""
    alive: bool = True
    died_ms: int = 0
    full: bool = True
    """Whether it says all it has to say next."""

    def request(self) -> ConsumerGroupHeartbeatRequest:
        owned = self.runs if self.full or (self.said != self.runs and self.runs == self.told) else None
        self.sent = self.subscribed, owned
        return ConsumerGroupHeartbeatRequest(
            GROUP,
            self.name,
            self.epoch,
            self.instance_id,
            rebalance_timeout_ms=REBALANCE_MS if self.full else -1,
            subscribed_topic_names=list(self.subscribed) if self.full else None,
            server_assignor=self.assignor if self.full else None,
            topic_partitions=None if owned is None else [TopicPartitions(t, [at]) for t, at in sorted(owned)],
        )

    def hear(self, told: ConsumerGroupHeartbeatResponse) -> None:
        if told.error_code in GONE:
            self.epoch, self.runs, self.told, self.said, self.full = 0, frozenset(), frozenset(), None, True
        if told.error_code:
            return
        subscribed, owned = self.sent
        self.epoch, self.full = told.member_epoch, self.subscribed != subscribed
        self.said = self.said if owned is None else owned
        if told.assignment is not None:
            self.told = flat(told.assignment.topic_partitions)

    def follow(self) -> None:
        """Let go of what it is to consume no longer, and begin with what is new."""
        self.runs = self.told

    def reconnect(self, connection: int) -> None:
        self.connection, self.full, self.waits_for = connection, True, None


@attrs.define(eq=False)
class History:
    """One random history."""

    random: Random
    holds: bool
    """Whether answers wait until they say something new."""
    world: World = attrs.field(init=False)
    consumers: list[Consumer] = attrs.Factory(list)
    counts: dict[str, tuple[int, int]] = attrs.Factory(lambda: {"A": (4, 0)})
    """By topic, its partitions and its incarnation."""
    made: int = 0

    def __attrs_post_init__(self) -> None:
        self.world = World(ConsumerSettings(max_size=6, heartbeat_wait_ms=-1 if self.holds else 0), {})
        self.tell_topics()

    # -- what happens -------------------------------------------------------------------------------------------------

    def play(self) -> None:
        what = [self.somebody_starts, self.somebody_dies, self.somebody_leaves, self.somebody_goes_away]
        what += [self.somebody_subscribes, self.an_answer_is_lost, self.a_connection_is_lost, self.topics_change]
        what += [self.the_coordinator_restarts, self.somebody_thaws, *[self.a_while_goes_by] * 8]
        self.random.choice(what)()
        for one in self.consumers:
            self.deliver(one)
        self.check()

    def somebody_starts(self) -> None:
        self.made += 1
        instance = self.random.choice([None, None, "i", "j"])
        if instance in self.instances():
            return
        subscribed = self.random.choice(["A", "A", "AB", "B", "ABC", ""])
        new = Consumer(f"c{self.made}", instance, subscribed, self.random.choice(ASSIGNORS), self.connection())
        self.consumers.append(new)
        self.beat(new)

    def instances(self) -> set[str | None]:
        """The static names of those that live."""
        return {each.instance_id for each in self.consumers if each.alive} - {None}

    def somebody_dies(self) -> None:
        for one in self.somebody():
            one.alive, one.died_ms = False, self.world.now_ms

    def somebody_thaws(self) -> None:
        """One that stood still goes on, and hears first what has become of it."""
        frozen = [each for each in self.consumers if not each.alive and each.died_ms and each.instance_id is None]
        for one in self.random.sample(frozen, min(1, len(frozen))):
            one.alive = True
            self.deliver(one)
            self.beat(one)

    def somebody_leaves(self) -> None:
        for one in self.somebody():
            self.end(one, -1)

    def somebody_goes_away(self) -> None:
        for one in self.somebody():
            if one.instance_id is not None and one.epoch > 0:
                self.end(one, -2)

    def end(self, one: Consumer, epoch: int) -> None:
        one.runs, one.told, one.alive, one.died_ms = frozenset(), frozenset(), False, 0
        request = ConsumerGroupHeartbeatRequest(GROUP, one.name, epoch, one.instance_id)
        self.world.send(request, one.connection)

    def somebody_subscribes(self) -> None:
        for one in self.somebody():
            one.subscribed, one.full = self.random.choice(["A", "B", "AB", "C", ""]), True
            self.beat(one)

    def an_answer_is_lost(self) -> None:
        for one in self.somebody():
            if one.waits_for is None:
                self.world.send(one.request(), one.connection)
            one.reconnect(self.connection())

    def a_connection_is_lost(self) -> None:
        for one in self.somebody():
            one.reconnect(self.connection())

    def topics_change(self) -> None:
        name = self.random.choice("ABC")
        count, incarnation = self.counts.pop(name, (0, 0))
        if self.random.random() < 0.8:
            self.counts[name] = self.random.choice(
                [(count + self.random.randrange(1, 3), incarnation), (self.random.randrange(1, 5), incarnation + 1)]
            )
        self.tell_topics()

    def known(self) -> dict[str, Topic]:
        """The topics that there are now."""
        return {name: Topic(name, topic_id(name, made), count) for name, (count, made) in self.counts.items()}

    def tell_topics(self) -> None:
        self.world.learn(self.known())

    def the_coordinator_restarts(self) -> None:
        self.world.restart(lose_ms=self.random.choice([0, 3_000]), compacted=self.random.random() < 0.5)
        for one in self.consumers:
            one.reconnect(self.connection())

    def a_while_goes_by(self) -> None:
        self.world.pass_ms(self.random.choice([100, BEAT_MS, BEAT_MS]))
        for one in self.random.sample(self.consumers, len(self.consumers)):
            self.deliver(one)
            if one.alive:
                if self.random.random() < 0.7:
                    one.follow()
                self.beat(one)

    # -- helpers ------------------------------------------------------------------------------------------------------

    def connection(self) -> int:
        self.made += 1
        return self.made

    def somebody(self) -> list[Consumer]:
        living = [each for each in self.consumers if each.alive]
        return [self.random.choice(living)] if living else []

    def beat(self, one: Consumer) -> None:
        if one.waits_for is None:
            one.waits_for = self.world.send(one.request(), one.connection)
        self.deliver(one)

    def deliver(self, one: Consumer) -> None:
        """Let it hear an answer that has come."""
        if one.alive and one.waits_for in self.world.answers:
            told = self.world.answers[one.waits_for]
            assert isinstance(told, ConsumerGroupHeartbeatResponse)
            one.waits_for = None
            one.hear(told)

    def check(self) -> None:
        """Nobody consumes what another consumes; one that is dead is believed to consume until its session ends."""
        runs: dict[Partition, str] = {}
        for one in self.consumers:
            if one.alive:
                for partition in one.runs:
                    assert runs.setdefault(partition, one.name) == one.name, (partition, one.name, runs[partition])

    def come_to_rest(self) -> None:
        for _ in range(4 * SESSION_MS // BEAT_MS):
            self.a_while_goes_by()
            self.check()
        living = [each for each in self.consumers if each.alive and each.epoch > 0]
        assert not living or len({each.epoch for each in living}) == 1
        wanted = {
            (topic_id(name, incarnation), at)
            for name, (count, incarnation) in self.counts.items()
            if any(name in each.subscribed for each in living)
            for at in range(count)
        }
        assert sorted(partition for each in living for partition in each.runs) == sorted(wanted)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nobody_consumes_what_another_consumes_and_all_comes_to_rest(seed: int) -> None:
    play(seed)


@pytest.mark.proof
@pytest.mark.parametrize("block", range(PROOF_BLOCKS))
def test_the_same_of_many_histories(block: int) -> None:
    first = SEEDS + block * PROOF_SEEDS
    for seed in range(first, first + PROOF_SEEDS):
        play(seed)


def play(seed: int) -> None:
    """One history, until all is at rest."""
    history = History(Random(seed), holds=seed % 2 == 1)
    for _ in range(EVENTS):
        history.play()
    history.come_to_rest()


MUTANTS = (
    Mutant(8, "a member moves on although it has not let go", reconciliation._towards,
           "if to_release and _has_any(to_release, owned):", "if False:"),
    Mutant(8, "who does not say what it owns has let go", reconciliation._has_any,
           "bool(partitions) if owned is None", "False if owned is None"),
    Mutant(8, "what others have is granted", reconciliation._towards,
           "frozenset(filter(goal.is_free, missing))", "missing"),
    Mutant(6, "topics that change move no epoch", topic_facts._learn,
           "if (seen != before or resolved_anew) and group.members", "if False"),
    Mutant(7, "what departed members were to have is given to nobody", next_assignment.compute,
           "for member_id, partitions in after.items():", "for member_id, partitions in list(after.items())[:1]:"),
)  # fmt: skip


@pytest.mark.long("each mutant takes several histories")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_noticed(mutant: Mutant) -> None:
    with put_in(mutant), pytest.raises((AssertionError, KeyError)):  # a step that breaks off is noticed, too
        for seed in range(MUTANT_SEEDS):
            play(seed)

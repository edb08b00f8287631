"""Whatever happens to consumers of both protocols in one group: no two consume one partition, and all comes to rest.

As `test_any_history.py`, with classic consumers beside the others: eager and cooperative ones, static ones, ones that
lead a classic group before a consumer of the new protocol has come and after the last has gone. Topics grow only: a
classic consumer names them, and does not know which topic of that name it had.
"""

from __future__ import annotations

from random import Random

import attrs
import pytest

from kcoord.group.classic_consumers import join_group, rejoin, to_consumer_group
from kcoord.group.consumer import offset_checks
from kcoord.protocol.consumer_embedded import decode_subscription
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse, JoinGroupResponse
from tests.group.consumer.classic_world import HEARTBEAT_VERSION, Classic
from tests.group.consumer.test_any_history import BEAT_MS, EVENTS, SESSION_MS, Consumer, History
from tests.group.consumer.world import GROUP
from tests.light import fewer
from tests.sim.mutants import Mutant, put_in

SEEDS = fewer(60, 20)
PROOF_BLOCKS, PROOF_SEEDS = 10, 400
GONE = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.GROUP_MAX_SIZE_REACHED)
OUT, JOINED, IN = "is to join", "is to sync", "heartbeats"


@attrs.define(eq=False)
class ClassicOne:
    """One process with a classic consumer."""

    classic: Classic
    phase: str = OUT
    runs: frozenset[str] = frozenset()
    """Partitions by name, "A0"."""
    waits_for: object | None = None
    alive: bool = True
    members: dict[str, bytes] = attrs.Factory(dict)
    """Of one that leads: the members' metadata."""

    def act(self, counts: dict[str, tuple[int, int]]) -> None:
        """Send what it has to send next."""
        classic = self.classic
        if self.phase == OUT:
            if not classic.cooperative:
                self.runs = frozenset()
            classic.has = " ".join(sorted(self.runs))
            self.waits_for = classic.send_join()
        elif self.phase == JOINED:
            self.waits_for = classic.send_sync(self._given(counts) if classic.leads else None)
        else:
            request = HeartbeatRequest(GROUP, classic.generation, classic.member_id, classic.instance_id)
            self.waits_for = classic.world.send(request, classic.connection, HEARTBEAT_VERSION)

    def _given(self, counts: dict[str, tuple[int, int]]) -> dict[str, str]:
        """As a cooperative leader: what somebody goes on consuming stays, the rest is dealt out."""
        said = {each: decode_subscription(metadata) for each, metadata in self.members.items()}
        given: dict[str, set[str]] = {each: set() for each in said}
        taken: set[str] = set()
        for each, one in said.items():
            kept = {f"{name}{at}" for name, at in one.owned if name in one.topics} - taken
            taken |= kept
            given[each] |= kept
        for name, (count, _) in counts.items():
            able = sorted(each for each, one in said.items() if name in one.topics)
            for at in range(count):
                if able and f"{name}{at}" not in taken:
                    given[min(able, key=lambda each: len(given[each]))].add(f"{name}{at}")
        return {each: " ".join(sorted(some)) for each, some in given.items()}

    def hear(self) -> None:
        """Take in the answer that has come."""
        token, self.waits_for = self.waits_for, None
        if self.phase == OUT:
            self._joined(token)
        elif self.phase == JOINED:
            error = self.classic.synced(token)
            if error is ErrorCode.NONE:
                told = frozenset(self.classic.has.split())
                self.phase = OUT if self.runs - told else IN
                self.runs = told
            else:
                self._lost(error)
        else:
            told_alive = self.classic.world.answers[token]
            assert isinstance(told_alive, HeartbeatResponse)
            if told_alive.error_code:
                self._lost(ErrorCode(told_alive.error_code))

    def _joined(self, token: object) -> None:
        told = self.classic.world.answers[token]
        assert isinstance(told, JoinGroupResponse)
        error = self.classic.joined(token)
        if error is ErrorCode.NONE:
            self.phase = JOINED
            self.members = {each.member_id: each.metadata for each in told.members}
        else:
            self._lost(error)

    def _lost(self, error: ErrorCode) -> None:
        self.phase = OUT
        if error in GONE:
            self.runs, self.classic.member_id, self.classic.generation = frozenset(), "", -1
        elif error is ErrorCode.FENCED_INSTANCE_ID:
            self.runs, self.alive = frozenset(), False

    def reconnect(self) -> None:
        self.classic.reconnect()
        self.waits_for = None
        self.phase = OUT if self.phase == JOINED else self.phase


@attrs.define(eq=False)
class MixedHistory(History):
    """One random history."""

    classics: list[ClassicOne] = attrs.Factory(list)
    is_in_front: bool = False
    """In front of a cluster: topics are told with requests."""
    is_ending: bool = False
    landed: int = 0
    refused: int = 0
    """Commits."""

    def play(self) -> None:
        what = [self.somebody_starts, self.somebody_dies, self.somebody_leaves, self.somebody_goes_away]
        what += [self.somebody_subscribes, self.an_answer_is_lost, self.a_connection_is_lost, self.topics_change]
        what += [self.the_coordinator_restarts, self.somebody_thaws, *[self.a_while_goes_by] * 8]
        what += [self.a_classic_one_starts, self.a_classic_one_starts, self.a_classic_one_dies]
        what += [self.a_classic_one_leaves, self.a_classic_one_thaws, self.a_classic_one_reconnects]
        self.random.choice(what)()
        for one in self.consumers:
            self.deliver(one)
        for classic in self.classics:
            self.deliver_classic(classic)
        self.check()

    def a_classic_one_starts(self) -> None:
        instance = self.random.choice([None, None, "i", "j"])
        if instance in self.instances():
            return
        classic = Classic(
            self.world,
            self.random.choice(["A", "AB", "B", "ABC"]),
            instance,
            session_ms=SESSION_MS,
            cooperative=self.random.random() < 0.7,
        )
        self.classics.append(ClassicOne(classic))

    def instances(self) -> set[str | None]:
        return super().instances() | {each.classic.instance_id for each in self.living()} - {None}

    def living(self) -> list[ClassicOne]:
        return [each for each in self.classics if each.alive]

    def some_classic(self) -> list[ClassicOne]:
        living = self.living()
        return [self.random.choice(living)] if living else []

    def a_classic_one_dies(self) -> None:
        for one in self.some_classic():
            one.alive = False

    def a_classic_one_thaws(self) -> None:
        """It hears first what has become of it."""
        frozen = [each for each in self.classics if not each.alive and each.classic.instance_id is None]
        for one in self.random.sample(frozen, min(1, len(frozen))):
            one.alive = True
            self.deliver_classic(one)
            if one.waits_for is not None:
                one.reconnect()
            if one.phase != OUT:
                one.act(self.counts)
                self.deliver_classic(one)
            else:
                one.runs = frozenset()  # its poll is over: it has lost everything

    def a_classic_one_leaves(self) -> None:
        for one in self.some_classic():
            one.runs, one.alive = frozenset(), False
            if one.classic.member_id:
                one.classic.go()
            self.classics.remove(one)

    def a_classic_one_reconnects(self) -> None:
        for one in self.some_classic():
            one.reconnect()

    def topics_change(self) -> None:
        name = self.random.choice("ABC")
        count, incarnation = self.counts.get(name, (0, 0))
        self.counts[name] = count + self.random.randrange(1, 3), incarnation
        self.tell_topics()

    def tell_topics(self) -> None:
        if self.is_in_front:
            self.world.put_in_front(self.known())
        else:
            super().tell_topics()

    def the_coordinator_restarts(self) -> None:
        super().the_coordinator_restarts()
        for one in self.classics:
            one.reconnect()

    def a_while_goes_by(self) -> None:
        super().a_while_goes_by()
        for one in self.random.sample(self.classics, len(self.classics)):
            self.deliver_classic(one)
            if one.alive and one.waits_for is None:
                one.act(self.counts)
                self.deliver_classic(one)

    def deliver_classic(self, one: ClassicOne) -> None:
        if one.alive and one.waits_for in self.world.answers:
            one.hear()

    def names_of(self, one: Consumer) -> set[str]:
        return {f"{chr(topic[15])}{at}" for topic, at in one.runs}

    def check(self) -> None:
        runs: dict[str, object] = {}
        everybody: list[tuple[object, frozenset[str]]] = [
            *((one, frozenset(self.names_of(one))) for one in self.consumers if one.alive),
            *((one, one.runs) for one in self.classics if one.alive),
        ]
        for one, partitions in everybody:
            for partition in partitions:
                assert runs.setdefault(partition, one) is one, f"{partition} is consumed twice"
        self.somebody_commits(runs)

    def somebody_commits(self, runs: dict[str, object]) -> None:
        """Also one that stands still, but not in the end: in a classic group a commit is a sign of life.

        `runs`: who consumes each partition now.
        """
        readers: list[Consumer | ClassicOne] = [*self.consumers, *self.classics]
        if self.is_ending:
            readers = [each for each in readers if each.alive]
        for one in self.random.sample(readers, min(2, len(readers))):
            read = self.names_of(one) if isinstance(one, Consumer) else one.runs
            for partition in self.random.sample(sorted(read), min(1, len(read))):
                self.commits(one, partition, runs)

    def commits(self, one: Consumer | ClassicOne, partition: str, runs: dict[str, object]) -> None:
        """A commit lands if its sender has the partition still, and does not if another consumes it."""
        if isinstance(one, Consumer):
            member_id, known = one.name, one.epoch
        else:
            member_id, known = one.classic.member_id, one.classic.generation
        error = self.world.commit(member_id, known, partition)
        self.landed += error is ErrorCode.NONE
        self.refused += error is not ErrorCode.NONE
        if runs.get(partition, one) is not one:
            assert error is not ErrorCode.NONE, f"{partition} is another's, and {member_id} commits"
        elif one.alive and self.world.holds(member_id, partition):
            assert error in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS), (member_id, known, partition, error)

    def come_to_rest(self) -> None:
        self.is_ending = True
        for _ in range(4 * SESSION_MS // BEAT_MS):
            self.a_while_goes_by()
            self.check()
        living = [each for each in self.consumers if each.alive and each.epoch > 0]
        classic = [each for each in self.living() if each.classic.member_id]  # the others found no room
        assert len({each.epoch for each in living}) <= 1
        assert {each.phase for each in classic} <= {IN}
        subscribed = [*(each.subscribed for each in living), *(each.classic.topics for each in classic)]
        wanted = {
            f"{name}{at}"
            for name, (count, _) in self.counts.items()
            if any(name in each for each in subscribed)
            for at in range(count)
        }
        has = [each for one in living for each in self.names_of(one)] + [each for one in classic for each in one.runs]
        if living:  # leaders of classic groups do not watch topics here
            assert sorted(has) == sorted(wanted)


def play(seed: int, *, is_in_front: bool = False) -> MixedHistory:
    history = MixedHistory(Random(seed), holds=seed % 2 == 1, is_in_front=is_in_front)
    for _ in range(EVENTS):
        history.play()
    history.come_to_rest()
    return history


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_is_consumed_twice_and_all_comes_to_rest(seed: int) -> None:
    play(seed, is_in_front=seed % 3 == 2)


@pytest.mark.proof
@pytest.mark.parametrize("is_in_front", [False, True])
@pytest.mark.parametrize("block", range(PROOF_BLOCKS))
def test_many_more(block: int, *, is_in_front: bool) -> None:
    first = SEEDS + block * PROOF_SEEDS
    for seed in range(first, first + PROOF_SEEDS):
        play(seed, is_in_front=is_in_front)


def test_the_histories_have_groups_of_both_kinds() -> None:
    """And some are upgraded, and become classic groups again."""
    upgraded = downgraded = landed = refused = 0
    for seed in range(10):
        history = play(seed)
        landed, refused = landed + history.landed, refused + history.refused
        reasons = [str(entry) for step in history.world.steps for entry in step]
        upgraded += sum("migrated from a classic group" in each for each in reasons)
        downgraded += sum("all its consumers speak the classic protocol" in each for each in reasons)
    assert upgraded
    assert downgraded
    assert landed
    assert refused


# fmt: off
MUTANTS = (
    (46, Mutant(21, "who joins has let go of everything", join_group._owned,
                "return frozenset((group", "return frozenset() and frozenset((group")),
    (1, Mutant(22, "nobody is called to get something new", rejoin.has_to_rejoin,
               "return bool(after.pending) or after.stage", "return bool(after.pending) and after.stage")),
    (11, Mutant(23, "what a member goes on consuming is free", to_consumer_group._read,
                 "goes_on = said.owned - taken", "goes_on = frozenset()")),
    (0, Mutant(25, "only the newest epoch may commit", offset_checks._has_since,
               "return partition in member.current and", "return False and partition in member.current and")),
)
# fmt: on
"""Each with a seed that shows it."""


@pytest.mark.parametrize(("seed", "mutant"), MUTANTS, ids=lambda each: each.name if isinstance(each, Mutant) else "")
def test_a_broken_rule_is_noticed(seed: int, mutant: Mutant) -> None:
    play(seed)
    with put_in(mutant), pytest.raises((AssertionError, KeyError)):
        play(seed)

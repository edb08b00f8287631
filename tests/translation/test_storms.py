"""Does a fleet come to rest whose leader answers the same nonsense for ever?
(`kcoord/group/state/repeated_rebalances.py`)

Workers are scripted: they join when they are told, and when they have stopped what they were told to. The leader's
answers are a function of what it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcoord.group.state.classic_workers.look_verdicts import MOST_LOOKS
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.metrics import CONNECT
from kcoord.group.state.repeated_rebalances import FREE
from kcoord.resource import Resource
from tests.group.connect.world import res, text
from tests.light import fewer
from tests.translation.translated_world import AGAIN, OK, TranslatedWorld

ALL = "AC0 AT0 AT1 AT2 BC0 BT0"
Shown = Mapping[str, str]
MINUTES = 10
QUICKLY = 1 + FREE + 6
"""So many rebalances come before there is one a minute."""


@attrs.frozen
class Nonsense:
    """What the leader answers for ever."""

    takes: frozenset[str] = frozenset()
    """From whoever has it, for nobody."""
    moves: frozenset[str] = frozenset()
    """From whoever has it to the next member."""
    gives: bool = False
    """Whether it hands out what nobody has."""
    delay_ms: int = 0
    """It lets work wait that does not exist."""

    def __call__(self, shown: Shown) -> dict[str, str]:
        members = sorted(shown)
        told: dict[str, list[str]] = {member: [] for member in members}
        for at, member in enumerate(members):
            for each in shown[member].split():
                if each in self.takes | self.moves:
                    told[member].append(f"-{each}")
                if each in self.moves:
                    told[members[(at + 1) % len(members)]].append(f"+{each}")
        if self.gives:
            held = " ".join(shown.values()).split()
            told[members[0]] += [f"+{each}" for each in sorted({*ALL.split()} - {*held})]
        return {member: " ".join(words) for member, words in told.items()}


@attrs.define
class Worker:
    """One scripted worker."""

    world: TranslatedWorld
    name: str
    policy: Nonsense
    restless: bool = False
    """It joins again whenever it can."""
    runs: frozenset[Resource] = frozenset()
    join: object = None
    sync: object = None
    has_to_join: bool = False

    def tick(self) -> None:
        """One look at what has been answered, and at whether it has to join."""
        if self.join is not None:
            self._joined()
        elif self.sync is not None:
            self._synced()
        elif self.has_to_join or self.restless or self.world.beats(self.name) is AGAIN:
            self.has_to_join = False
            self.join = self.world.send_join(self.name, text(self.runs))

    def _joined(self) -> None:
        if self.join in self.world.answers:
            joined, self.join = self.world.joined(self.join), None
            answer = self.policy({name: held for name, (_, held) in joined.shown.items()}) if joined.leads else None
            self.sync = self.world.send_sync(self.name, answer, delay_ms=self.policy.delay_ms)

    def _synced(self) -> None:
        if self.sync in self.world.answers:
            synced, self.sync = self.world.synced(self.sync), None
            self.has_to_join = synced.error is not OK or bool(synced.revoked)
            if synced.error is OK:
                self.runs = (self.runs - res(synced.revoked)) | res(synced.assigned)


def fleet(policy: Nonsense, restless: bool = False) -> tuple[TranslatedWorld, list[Worker]]:
    """Three workers at rest; W1 leads, by that policy from now on."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1 BC0", "W3": "AT2 BT0"})
    workers = [Worker(world, name, policy, runs=res(world.holds(name))) for name in ("W1", "W2", "W3")]
    workers[0].restless, workers[0].has_to_join = restless, True
    return world, workers


def live(world: TranslatedWorld, workers: list[Worker], seconds: int) -> None:
    """Time passes, a second at a time."""
    world.checked = False  # else it takes a minute
    for _ in range(seconds):
        world.pass_ms(1_000)
        for worker in workers:
            worker.tick()
    world.checked = True


nonsense = st.builds(
    Nonsense,
    takes=st.frozensets(st.sampled_from(["AT1", "BC0", "AC0"])),
    moves=st.frozensets(st.sampled_from(["AT0", "AT2"])),
    gives=st.booleans(),
    delay_ms=st.sampled_from([0, 0, 1_000]),
).filter(lambda policy: not (policy.takes and policy.gives))  # else what exists is another thing each time


@settings(max_examples=fewer(20, 4))
@given(policy=nonsense, restless=st.booleans())
def test_no_leader_makes_more_than_one_rebalance_a_minute_for_long(policy: Nonsense, restless: bool) -> None:
    world, workers = fleet(policy, restless)
    before = world.group.epoch
    live(world, workers, 60 * MINUTES)
    assert world.group.epoch - before <= MOST_LOOKS * (QUICKLY + MINUTES)
    runs = {each for worker in workers for each in text(worker.runs).split()}
    assert {*ALL.split()} - policy.takes - policy.moves <= runs
    if not restless and not policy.takes and not policy.delay_ms:
        assert runs == {*ALL.split()}


@pytest.mark.parametrize(
    "policy",
    [Nonsense(), Nonsense(frozenset({"AT1"}), gives=True)],
    ids=["joins for nothing", "takes away, and gives again"],
)
def test_a_storm_is_counted_and_told(policy: Nonsense) -> None:
    world, workers = fleet(policy, restless=True)
    live(world, workers, 10 * 60)
    counters = world.shard.metrics().connect
    assert counters.repeated[CONNECT] > FREE
    assert 0 < counters.slowed[CONNECT] <= counters.repeated[CONNECT]
    assert "rebalances changed nothing: the next one waits 60 s)" in world.group.reason
    assert {each.group_id for each in world.slowed} == {world.group_id}
    while world.group.repetition.due_ms == NEVER_MS:
        live(world, workers, 1)
    described = world.describe()
    assert described.repeated_rebalances == world.group.repetition.times > FREE
    assert 0 <= described.computes_in_ms <= 60_000


def test_a_leader_that_lets_nothing_wait_is_asked_so_often_and_no_more() -> None:
    """CM-39: an answer with a delay is void, but not for ever."""
    world, workers = fleet(Nonsense(delay_ms=1_000))
    before = world.group.epoch
    live(world, workers, 10 * 60)
    assert world.group.epoch - before <= MOST_LOOKS
    assert world.group.epoch == world.group.assignment_epoch


def test_a_storm_ends_with_the_first_real_change() -> None:
    """The leader that waits with its JoinGroup is answered as soon as a worker comes."""
    world, workers = fleet(Nonsense(), restless=True)
    live(world, workers, 10 * 60)
    assert workers[0].join is not None
    assert workers[0].join not in world.answers
    world.come("W4")
    assert workers[0].join in world.answers
    assert world.describe().computes_in_ms == -1
    live(world, workers, 5)
    assert world.group.repetition.times == 0


def test_nothing_is_slowed_down_where_workers_come_and_go() -> None:
    world, workers = fleet(Nonsense(gives=True))
    for _ in range(8):
        world.come("W4")
        live(world, workers, 3)
        world.leaves("W4")
        live(world, workers, 3)
        del world.known["W4"]
    assert not world.shard.metrics().connect.slowed


def test_a_load_forgets_the_storm() -> None:
    world, workers = fleet(Nonsense(), restless=True)
    live(world, workers, 10 * 60)
    world.restart()
    assert world.group.repetition.times == 0

"""Connect's own assignor over the pictures that its leader is shown: what it says exists, and it moves nothing.

The assignor is kcoord's port, which `tests/assign/test_java_leaders.py` holds against Java's (CM-31, CM-32, CM-37).
"""

from __future__ import annotations

from collections import Counter
from random import Random

import attrs
import pytest

from kcoord.assign.incremental import Snapshot, Worker, written
from kcoord.assign.incremental.model import NO_GENERATION
from kcoord.group.state.classic_workers.leader_picture import Look, Picture, Resources, Shown, draw, read_answer
from kcoord.group.state.classic_workers.look_verdicts import Asking, Verdict
from kcoord.resource import CONNECTOR, Resource
from tests.group.connect.world import res
from tests.translation.java_leader import JavaLeader

OFFSET = 7
NOTHING: Resources = frozenset()
DELAYS_MS = (0, 40, 60_000, 300_000)
CHANGES = 12


@attrs.define
class Leader:
    """A worker that leads, and what comes of asking it."""

    java: JavaLeader = attrs.Factory(JavaLeader)
    generation: int = 0

    def look(self, picture: Picture, leader_id: str, configured: dict[str, int]) -> Look:
        """One JoinGroup and SyncGroup."""
        self.generation += 1
        workers = [
            Worker(each.member_id, each.url, OFFSET, written(tuple(sorted(each.resources)))) for each in picture.slices
        ]
        told = self.java.answer(workers, leader_id, configured, OFFSET, self.generation)
        return read_answer(picture, told, leader_id, OFFSET)

    def ask(
        self, asking: Asking, workers: dict[str, Resources], waiting: Resources, configured: dict[str, int]
    ) -> tuple[Resources, list[Verdict]]:
        """All looks that it takes. Its own worker is the first one."""
        leader_id, verdicts = next(iter(workers)), list[Verdict]()
        while True:
            shown = [Shown(name, f"http://{name}", target) for name, target in workers.items()]
            picture = draw(shown, shown[0], waiting)
            look = self.look(picture, leader_id, configured)
            verdicts.append(asking.judge(look, picture.shown))
            if verdicts[-1] is not Verdict.VOID:
                self.java.completed = self.generation
            if verdicts[-1] is Verdict.KNOWN:
                return look.existing, verdicts
            if verdicts[-1] is Verdict.AGAIN:
                workers = {name: target & look.existing for name, target in workers.items()}
                waiting = look.existing - NOTHING.union(*workers.values())


def everything(configured: dict[str, int]) -> Resources:
    return Snapshot(OFFSET, configured).resources()


# -- the picture ------------------------------------------------------------------------------------------------------


def test_each_entry_has_one_connector_and_one_task_at_most_and_its_workers_url() -> None:
    """CM-37, CM-42."""
    workers = [
        Shown("w1", "http://w1", res("AC0 AT0 AT1 AT2 BC0")),
        Shown("w2", "http://w2", NOTHING),
        Shown("w1#1", "http://w3", res("BT0")),
    ]
    picture = draw(workers, workers[1], res("CC0 CT0 CT1"))
    assert picture.shown == res("AC0 AT0 AT1 AT2 BC0 BT0 CC0 CT0 CT1")
    ids = [each.member_id for each in picture.slices]
    assert len(ids) == len(set(ids)), "an id of a worker was made up for another"
    assert {"w1", "w2", "w1#1"} <= set(ids)
    by_url: dict[str, Resources] = {}
    for each in picture.slices:
        assert Counter(at == CONNECTOR for _, at in each.resources).most_common(1)[0:1] in (
            [],
            [(True, 1)],
            [(False, 1)],
        )
        assert not by_url.get(each.url, NOTHING) & each.resources
        by_url[each.url] = by_url.get(each.url, NOTHING) | each.resources
    assert by_url == {
        "http://w1": res("AC0 AT0 AT1 AT2 BC0"),
        "http://w2": res("CC0 CT0 CT1"),
        "http://w3": res("BT0"),
    }, "what nobody runs stands with the leader's url"


def test_a_leader_that_remembers_is_asked_once_and_moves_nothing() -> None:
    """CM-31, CM-32."""
    leader, workers = Leader(), {"w1": res("AC0 AT0 AT1 AT2"), "w2": NOTHING, "w3": res("BC0")}
    configured = {"A": 3, "B": 0}
    leader.ask(Asking(remembers=False), workers, NOTHING, configured)
    for waiting in (NOTHING, NOTHING, res("BC0")):
        known, verdicts = leader.ask(Asking(remembers=True), workers, waiting - workers["w3"], configured)
        assert (known, verdicts) == (everything(configured), [Verdict.KNOWN])
    known, verdicts = leader.ask(Asking(remembers=True), workers, NOTHING, {"A": 1, "B": 2})
    assert (known, verdicts) == (everything({"A": 1, "B": 2}), [Verdict.KNOWN])


def test_a_leader_that_remembers_nothing_is_asked_until_it_knows_what_was_deleted() -> None:
    """CM-52: the slots of a deleted connector make it take away real work first, and give it back with a
    delay.
    """
    workers = {"w1": res("AC0 AT0 AT1"), "w2": res("BC0 BT0 BT1")}
    known, verdicts = Leader().ask(Asking(remembers=False), workers, NOTHING, {"A": 2})
    assert known == everything({"A": 2})
    assert verdicts == [Verdict.AGAIN, Verdict.AGAIN, Verdict.KNOWN]


def test_a_delay_that_nothing_explains_makes_a_look_void() -> None:
    """CM-39."""
    asking = Asking(remembers=True)
    look = Look(NOTHING, NOTHING, NOTHING, delay_ms=40, error=0, config_offset=OFFSET)
    assert asking.judge(look, res("AC0")) is Verdict.VOID
    clean = attrs.evolve(look, delay_ms=0)
    assert [asking.judge(clean, res("AC0")) for _ in range(2)] == [Verdict.AGAIN, Verdict.KNOWN]


def test_the_number_of_looks_is_bounded() -> None:
    """CM-54."""
    asking = Asking(remembers=False)
    look = Look(NOTHING, NOTHING, res("AC0"), delay_ms=40, error=0, config_offset=OFFSET)
    verdicts = [asking.judge(look, res("AC0"))]
    while verdicts[-1] is not Verdict.KNOWN:
        verdicts.append(asking.judge(look, res("AC0")))
        assert len(verdicts) < 20


# -- any history ------------------------------------------------------------------------------------------------------


class Fleet:
    """Workers come and go, others lead, configurations change, answers are lost; who runs what is anybody's guess."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.configured: dict[str, int] = {}
        self.workers: dict[str, Resources] = {f"w{at}": NOTHING for at in range(self.random.randint(1, 5))}
        self.known: Resources = NOTHING
        self.leaders: dict[str, Leader] = {}
        self.leader = "w0"
        self.max_delay_ms = self.random.choice(DELAYS_MS)
        self.now_ms = 0
        self.remembers = False
        self.looks: Counter[int] = Counter()

    def change(self) -> None:
        """One change, then what exists is asked for."""
        for event in self.random.choices(
            (self.configure, self.come, self.go, self.lose, self.wait), (5, 2, 3, 2, 2), k=2
        ):
            event()
        if self.leader not in self.workers:
            self.leader, self.remembers = self.random.choice(sorted(self.workers)), False
        workers, waiting = self.placed()
        asking = Asking(self.remembers)
        leader = self.leaders.setdefault(self.leader, Leader(JavaLeader(self.max_delay_ms)))
        leader.java.now_ms = self.now_ms
        self.known, verdicts = leader.ask(asking, workers, waiting, self.configured)
        assert self.known == everything(self.configured), verdicts
        self.looks[len(verdicts)] += 1
        self.remembers = True
        self.look_again(leader)

    def look_again(self, leader: Leader) -> None:
        """Nothing has changed since, but who runs what: the leader moves nothing, and knows nothing new."""
        workers, waiting = self.placed()
        shown = [Shown(name, f"http://{name}", target) for name, target in workers.items()]
        assert leader.look(draw(shown, shown[0], waiting), self.leader, self.configured).is_clean
        leader.java.completed = leader.generation

    def placed(self) -> tuple[dict[str, Resources], Resources]:
        """Who runs what, however uneven; the leader first."""
        random, names = self.random, [self.leader, *sorted(self.workers.keys() - {self.leader})]
        weights = [random.random() ** 3 + 0.01 for _ in names]
        placed: dict[str, set[Resource]] = {name: set() for name in names}
        waiting = set()
        for resource in sorted(self.known):
            if random.random() < 0.15:
                waiting.add(resource)
            else:
                placed[random.choices(names, weights)[0]].add(resource)
        return {name: frozenset(target) for name, target in placed.items()}, frozenset(waiting)

    def configure(self) -> None:
        for _ in range(self.random.choice((1, 1, 2, 4))):
            name = f"c{self.random.randrange(8)}"
            if name in self.configured and self.random.random() < 0.5:
                del self.configured[name]
            else:
                self.configured[name] = self.random.randrange(4)

    def come(self) -> None:
        self.workers[f"w{self.now_ms}-{len(self.workers)}"] = NOTHING

    def go(self) -> None:
        if len(self.workers) > 1:
            gone = self.random.choice(sorted(self.workers))
            del self.workers[gone]
            self.leaders.pop(gone, None)

    def lose(self) -> None:
        """The leader's last answer did not arrive, or nobody can tell."""
        self.remembers = False
        if self.leader in self.leaders and self.random.random() < 0.5:
            self.leaders[self.leader].java.completed = NO_GENERATION

    def wait(self) -> None:
        self.now_ms += self.random.choice((1, 40, 60_000, 300_000))


def play(seeds: range) -> Counter[int]:
    looks: Counter[int] = Counter()
    for seed in seeds:
        fleet = Fleet(seed)
        for _ in range(CHANGES):
            fleet.change()
        looks += fleet.looks
    return looks


def test_what_exists_is_right_in_any_history() -> None:
    looks = play(range(300))
    assert max(looks) <= 4
    assert looks[1] > sum(looks.values()) // 2


@pytest.mark.proof
@pytest.mark.parametrize("first", range(0, 84_000, 7_000))
def test_what_exists_is_right_in_a_million_pictures(first: int) -> None:
    """Some 1.2 million looks in all."""
    assert max(play(range(first, first + 7_000))) <= 4

"""What may happen to Connect clusters? Random ones, each of a seed, in rounds, for simulated and real workers at once.

Workers are started, stopped, killed and back under another id, cut off while they run on, cut off until they stop;
connectors come and go, tasks change; answers are lost, also the leader's own; another one leads; members and the leader
have read less of the configurations than others; time passes, often exactly as long as the leader waits, and seldom
goes back.
"""

from __future__ import annotations

from random import Random

import attrs

from kcoord.assign.incremental import Snapshot
from kcoord.assign.incremental.hashing import CROWDED, spread_hash
from tests.assign.java_leaders import EAGER, SESSIONED, Joined, Pair

DELAYS = (0, 1, 2, 39, 40, 41, 1_600, 64_000, 300_000, 300_000, 300_000)
LETTERS = ("Aa", "BB", "\N{GRINNING FACE}", "\uff5e", "ü", "-", "7", "connect")
"""`Aa` and `BB` have the same hash in Java, and the fourth comes after the third only in Unicode."""


@attrs.define
class RandomFleet:
    """A cluster under way."""

    pair: Pair
    random: Random
    name: str
    now_ms: int = 0
    generation: int = 0
    started: int = 0
    members: dict[str, str] = attrs.Factory(dict)
    """The member id of each process that is in the group."""
    cut_off: list[str] = attrs.Factory(list)
    """Processes that run on, and will be back under another id."""
    leader: str = ""
    history: list[Snapshot] = attrs.field(factory=lambda: [Snapshot(1)])
    max_delay_ms: int = 0
    crowded: bool = False

    @classmethod
    def of(cls, pair: Pair, seed: int) -> RandomFleet:
        random = Random(seed)
        fleet = cls(pair, random, f"fleet{seed}", now_ms=random.choice((0, 1_000_000)))
        fleet.max_delay_ms = random.choice((*DELAYS, random.randrange(1, 400_000)))
        fleet.crowded = random.random() < 0.1
        for _ in range(random.choice((1, 2, 3, 4, 8, 14, 26))):
            fleet.join()
        for _ in range(random.choice((0, 1, 3, 13))):
            fleet.add()
        return fleet

    def play(self, rounds: int) -> None:
        for _ in range(rounds):
            for _ in range(self.random.choice((0, 0, 1, 1, 1, 2, 3))):
                event = self.random.choices(list(EVENTS), list(EVENTS.values()))[0]
                event(self)
            self.round()

    def round(self) -> None:
        if self.leader not in self.members or self.random.random() < 0.04:
            self.leader = self.random.choice(list(self.members))
        if self.random.random() < 0.1:
            everybody = list(self.members.items())
            self.random.shuffle(everybody)
            self.members = dict(everybody)
        self.generation += self.random.choice((1, 1, 1, 1, 2, 3))
        joined = [Joined(key, member_id, self.snapshot(0.03)) for key, member_id in self.members.items()]
        lost = 0.3 if self.random.random() < 0.15 else 0.0
        told = self.pair.round(
            joined,
            self.leader,
            fresh=self.snapshot(0.3),
            generation=self.generation,
            now_ms=self.now_ms,
            answered=[key for key in self.members if self.random.random() >= lost],
            protocol=EAGER if self.random.random() < 0.03 else SESSIONED,
        )
        self.now_ms += self.random.choice((0, 1, 40, told.delay_ms, told.delay_ms, max(told.delay_ms - 1, 0), 5_000))
        if self.random.random() < 0.02:
            self.now_ms = max(self.now_ms - 10_000, 0)

    def come_to_rest(self, rounds: int = 12) -> None:
        """Rebalances that everybody gets the answer of, each after the delay of the one before."""
        for _ in range(rounds):
            self.generation += 1
            snapshot = self.history[-1]
            joined = [Joined(key, member_id, snapshot) for key, member_id in self.members.items()]
            told = self.pair.round(joined, self.leader, snapshot, self.generation, self.now_ms, list(self.members))
            self.now_ms += told.delay_ms

    def snapshot(self, behind: float) -> Snapshot:
        """What somebody has read of the configurations."""
        return self.history[-2 if len(self.history) > 1 and self.random.random() < behind else -1]

    def a_name(self) -> str:
        """A name in which Java and Python are not of one mind, or one of many in one bucket, or a plain one."""
        for _ in range(10_000):
            self.started += 1
            name = "".join(self.random.choices(LETTERS, k=self.random.randrange(1, 5))) + f"{self.started}"
            if self.random.random() < 0.5:
                name = f"connect-10.0.0.{self.started}:8083-{self.random.getrandbits(128):032x}"
            if not self.crowded or (not spread_hash(name) & 15 and self.has_room(name)):
                break
        return name

    def has_room(self, name: str) -> bool:
        """Whether the bucket of a name in a table of 64 is not full: no further is Java followed (`hashing`)."""
        buckets = [spread_hash(each) & 63 for each in (*self.members.values(), *self.history[-1].task_counts)]
        return buckets.count(spread_hash(name) & 63) < CROWDED - 1

    def join(self) -> None:
        key = f"{self.name}-{self.started}"
        self.pair.start(key, f"http://{self.random.randrange(9)}:8083/", self.max_delay_ms)
        self.members[key] = self.a_name()

    def leave(self) -> str:
        key = self.random.choice(list(self.members))
        if len(self.members) > 1:
            del self.members[key]
        return key

    def bounce(self) -> None:
        key = self.random.choice(list(self.members))
        self.pair.start(key, "http://back:8083/", self.max_delay_ms)
        self.members[key] = self.a_name()

    def cut(self) -> None:
        key = self.leave()
        if key not in self.members:
            self.cut_off.append(key)

    def return_(self) -> None:
        if self.cut_off:
            self.members[self.cut_off.pop()] = self.a_name()

    def forget(self) -> None:
        self.pair.forget(self.random.choice(list(self.members)))

    def add(self) -> None:
        self.configure({**self.history[-1].task_counts, self.a_name(): self.random.choice((0, 1, 1, 2, 3, 5, 13))})

    def remove(self) -> None:
        counts = dict(self.history[-1].task_counts)
        if counts:
            del counts[self.random.choice(list(counts))]
            self.configure(counts)

    def change_tasks(self) -> None:
        counts = dict(self.history[-1].task_counts)
        if counts:
            counts[self.random.choice(list(counts))] = self.random.randrange(8)
            self.configure(counts)

    def configure(self, counts: dict[str, int]) -> None:
        self.history.append(Snapshot(self.history[-1].offset + self.random.randrange(1, 3), counts))


EVENTS = {
    RandomFleet.join: 3,
    RandomFleet.leave: 3,
    RandomFleet.bounce: 2,
    RandomFleet.cut: 1,
    RandomFleet.return_: 1,
    RandomFleet.forget: 0.3,
    RandomFleet.add: 2,
    RandomFleet.remove: 1,
    RandomFleet.change_tasks: 1,
}

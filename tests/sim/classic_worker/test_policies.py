"""The examples of designs I to III (`docs/assignors.md`): what a leader that goes by a policy is told and answers.

    A(assigned:T1) B(assigned:T2)                           what the members report
    -> A(assigned:T4,revoked:,t1) B(assigned:,revoked:,t1)  what they are answered; t1: a delay, -: none

Between two lines each member does what it was told, as Connect's workers do.
"""

from __future__ import annotations

import attrs
import pytest

from kcoord.assign import CONNECTOR, ServerAssignor
from kcoord.assign.built_in import POLICIES
from kcoord.assign.incremental import Seen, Snapshot
from kcoord.assign.policies import DESIGN_1, DESIGN_2, DESIGN_3, IncrementalAssignor
from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.embedded import SESSIONED, WorkerAssignment, WorkerState, decode_assignment, encode_state
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.resource import Resource, connector, task
from kcoord.sim.classic_worker.leading import Leader
from kcoord.worker.classic.round import NO_WAIT, Memory
from tests.sim.classic_worker.house import House

T1_MS = 300_000
ONE, TWO, THREE = (IncrementalAssignor(each) for each in (DESIGN_1, DESIGN_2, DESIGN_3))

JOINS = """
    D joins
    A(assigned:T1,T4) B(assigned:T2) C(assigned:T3) D(assigned:)
    -> A(assigned:,revoked:T4,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-) D(assigned:,revoked:,-)
    A(assigned:T1) B(assigned:T2) C(assigned:T3) D(assigned:)
    -> A(assigned:,revoked:,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-) D(assigned:T4,revoked:,-)
"""
LEAVES_1 = """
    D leaves
    A(assigned:T1) B(assigned:T2) C(assigned:T3)
    -> A(assigned:T4,revoked:,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-)
"""
BOUNCES_1 = f"""
    {LEAVES_1}
    D joins
    A(assigned:T1,T4) B(assigned:T2) C(assigned:T3) D(assigned:)
    -> A(assigned:,revoked:T4,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-) D(assigned:,revoked:,-)
    A(assigned:T1) B(assigned:T2) C(assigned:T3) D(assigned:)
    -> A(assigned:,revoked:,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-) D(assigned:T4,revoked:,-)
"""
LEAVES_2 = """
    D leaves
    A(assigned:T1) B(assigned:T2) C(assigned:T3)
    -> A(assigned:,revoked:,t1) B(assigned:,revoked:,t1) C(assigned:,revoked:,t1)
    after t1
    A(assigned:T1) B(assigned:T2) C(assigned:T3)
    -> A(assigned:T4,revoked:,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-)
"""
BOUNCES_2 = """
    D leaves
    A(assigned:T1) B(assigned:T2) C(assigned:T3)
    -> A(assigned:,revoked:,t1) B(assigned:,revoked:,t1) C(assigned:,revoked:,t1)
    D' joins
    A(assigned:T1) B(assigned:T2) C(assigned:T3) D'(assigned:)
    -> A(assigned:,revoked:,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-) D'(assigned:T4,revoked:,-)
"""


NEW_LEADER_KNOWS = """
    D leaves
    A(assigned:T1) B(assigned:T,T2) C(assigned:T3)
    -> A(assigned:,revoked:,t1) B(assigned:,revoked:,t1) C(assigned:,revoked:,t1)
    100 seconds
    A leaves
    B(assigned:T,T2) C(assigned:T3)
    -> B(assigned:,revoked:,200 s) C(assigned:,revoked:,200 s)
    200 seconds
    B(assigned:T,T2) C(assigned:T3)
    -> B(assigned:T1,revoked:,-) C(assigned:T4,revoked:,-)
"""
NEW_TO_THE_GROUP = """
    D leaves
    A(assigned:T1) B(assigned:T,T2) C(assigned:T3)
    -> A(assigned:,revoked:,t1) B(assigned:,revoked:,t1) C(assigned:,revoked:,t1)
    A leaves
    0 joins
    0(assigned:) B(assigned:T,T2) C(assigned:T3)
    -> 0(assigned:T1,T4,revoked:,-) B(assigned:,revoked:,-) C(assigned:,revoked:,-)
"""
NOBODY_WAITED = """
    A leaves
    B(assigned:T,T2) C(assigned:T3) D(assigned:T4)
    -> B(assigned:,revoked:,t1) C(assigned:,revoked:,t1) D(assigned:,revoked:,t1)
"""


@attrs.define
class Member:
    """One worker, which may come to lead."""

    leader: Leader
    held: frozenset[Resource] = frozenset()
    told: WorkerAssignment | None = None


@attrs.define
class Group:
    """Members that meet in rounds; the first of them leads."""

    assignor: ServerAssignor
    snapshot: Snapshot
    members: dict[str, Member] = attrs.Factory(dict)
    now_ms: int = 0
    generation: int = 0

    @classmethod
    def begin(cls, assignor: ServerAssignor, *, of_one_connector: bool = False) -> Group:
        """A has T1, B T2 and so on, and all have met."""
        counts = {"T": 4} if of_one_connector else {f"T{at}": 0 for at in range(1, 5)}
        return cls(assignor, Snapshot(1, counts))

    def have(self, **words: str) -> Group:
        for name, tasks in words.items():
            self.join(name)
            self.members[name].held = frozenset(map(self.resource, tasks.split()))
        self.meet()
        return self

    def resource(self, word: str) -> Resource:
        """Each of them a connector, or a task of the only one."""
        return connector(word) if word in self.snapshot.task_counts else task(word[0], int(word[1:]) - 1)

    def word(self, resource: Resource) -> str:
        name, task = resource
        return name if task == CONNECTOR else f"T{task + 1}"

    def join(self, name: str) -> None:
        self.members[name] = Member(Leader(self.assignor))

    def meet(self) -> dict[str, WorkerAssignment]:
        """One round, after which everybody does what it was told."""
        leader = min(self.members)
        shown = [JoinGroupResponseMember(name, None, self._says(name)) for name in sorted(self.members)]
        last, self.generation = self.generation, self.generation + 1
        seen = Seen(leader, (), self.snapshot, None, self.generation, last, self.now_ms)
        made = self.members[leader].leader.lead(SESSIONED, shown, seen, T1_MS)
        answers = {name: decode_assignment(each) for name, each in made.told.items()}
        for name, answer in answers.items():
            member = self.members[name]
            member.held, member.told = member.held - answer.revoked | answer.assigned, answer
            member.leader.told(answer, self.now_ms)
            assert made.owners is not None
            assert made.owners[name] == member.held
        return answers

    def _says(self, name: str) -> bytes:
        member = self.members[name]
        told = member.told or (WorkerAssignment(SESSIONED) if member.held else None)
        allocation = None if told is None else attrs.evolve(told, assigned=member.held)
        return encode_state(WorkerState(SESSIONED, f"http://{name}", 1, allocation))

    def play(self, story: str) -> list[str]:
        """What comes of the story: the same where it is true."""
        return [self._line(line) for line in lines(story)]

    def _line(self, line: str) -> str:
        match line.split():
            case [name, "joins"]:
                self.join(name)
            case [name, "leaves"]:
                del self.members[name]
            case ["after", "t1"]:
                self.now_ms += T1_MS
            case [seconds, "seconds"]:
                self.now_ms += 1_000 * int(seconds)
            case ["->", *_]:
                return "-> " + " ".join([self._answer(*each) for each in sorted(self.meet().items())])
            case _:
                held = sorted((name, self._words(each.held)) for name, each in self.members.items())
                return " ".join([f"{name}(assigned:{words})" for name, words in held])
        return line

    def _words(self, resources: frozenset[Resource]) -> str:
        return ",".join(sorted(map(self.word, resources)))

    def _answer(self, name: str, told: WorkerAssignment) -> str:
        delay = {0: "-", T1_MS: "t1"}.get(told.delay_ms, f"{told.delay_ms // 1000} s")
        return f"{name}(assigned:{self._words(told.assigned)},revoked:{self._words(told.revoked)},{delay})"


def lines(story: str) -> list[str]:
    return [line.strip() for line in story.splitlines() if line.strip()]


@pytest.mark.parametrize("assignor", [ONE, TWO, THREE], ids=lambda each: each.name)
def test_a_member_joins(assignor: ServerAssignor) -> None:
    assert Group.begin(assignor).have(A="T1 T4", B="T2", C="T3").play(JOINS) == lines(JOINS)


@pytest.mark.parametrize(
    ("assignor", "story"),
    [(ONE, LEAVES_1), (ONE, BOUNCES_1), (TWO, LEAVES_2), (THREE, LEAVES_2), (TWO, BOUNCES_2), (THREE, BOUNCES_2)],
)
def test_a_member_leaves_and_bounces(assignor: ServerAssignor, story: str) -> None:
    assert Group.begin(assignor).have(A="T1", B="T2", C="T3", D="T4").play(story) == lines(story)


@pytest.mark.parametrize("assignor", [TWO, THREE], ids=lambda each: each.name)
@pytest.mark.parametrize("story", [NEW_LEADER_KNOWS, NEW_TO_THE_GROUP, NOBODY_WAITED])
def test_a_new_leader_in_the_middle_of_a_wait(assignor: ServerAssignor, story: str) -> None:
    """It knows the end if it was a member. One that is new to the group has nothing: what is lost is given to it."""
    group = Group.begin(assignor, of_one_connector=True).have(A="T1", B="T T2", C="T3", D="T4")
    assert group.play(story) == lines(story)


def test_leaders_who_all_know_nothing_prolong_no_wait_for_ever() -> None:
    """With more workers than resources nobody can say who is new. Each waits half of what the last one told."""
    held = WorkerAssignment(SESSIONED, assigned=frozenset({connector("T")}))
    delay_ms, left = T1_MS, []
    while delay_ms:
        states = {
            "B": WorkerState(SESSIONED, "b", 1, attrs.evolve(held, delay_ms=delay_ms)),
            **{name: WorkerState(SESSIONED, name, 1) for name in "0123"},
        }
        memory = Memory()
        memory.guess(states, frozenset({connector("T"), task("T", 0)}), NO_WAIT, 5_000)
        group = memory.show(states, frozenset({connector("T"), task("T", 0)}), 1, 7, T1_MS, 5_000)
        delay_ms = TWO.assign(group).scheduled_delay_ms
        left.append(delay_ms)
    assert left[0] == T1_MS // 2
    assert sum(left) < T1_MS


@pytest.mark.parametrize("assignor", [make() for make in POLICIES.values()], ids=lambda each: each.name)
def test_a_fleet_of_scripted_workers_goes_by_a_policy(assignor: ServerAssignor) -> None:
    """A worker joins, one dies, and comes back; whatever the policy, all runs in the end, and nothing ran twice."""
    house = House(GroupSettings(initial_rebalance_delay_ms=100))
    house.configure(a=5, b=6)
    settings: dict[str, object] = {"max_delay_ms": 30_000, "assignor": assignor}
    hosts = [house.worker(f"w{at}", **settings) for at in range(3)]
    house.run(40_000)
    joined = house.worker("w3", **settings)
    house.run(60_000)
    assert house.all_run_once()
    assert 2 <= len(joined.runs) <= 4
    gone, before = hosts[2], hosts[2].runs
    stops = [len(host.stops) for host in house.alive]
    gone.kill()
    house.run(15_000)
    back = house.worker("w2", **settings)
    house.run(20_000)
    if assignor.name in ("design-2", "design-3"):
        assert back.runs == before
        assert [len(host.stops) for host in house.hosts if host not in (gone, back)] == stops[:2] + stops[3:]
    house.run(60_000)
    assert house.all_run_once()
    assert not house.doubles
    sizes = [len(host.runs) for host in house.alive]
    assert max(sizes) - min(sizes) <= 2

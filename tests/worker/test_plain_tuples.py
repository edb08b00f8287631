"""Does a program still work that gives plain tuples for resources, and reads the resources that it gets as tuples?"""

from __future__ import annotations

import pytest

from kcoord.assign import Assignment, ConnectAssignor, Group, MemberAssignment, Resource, tell
from kcoord.testing import Kcoord, run
from kcoord.worker import Configured, WorkerRebalanceListener

COPY, FIRST, SECOND, THIRD = ("copy", -1), ("copy", 0), ("copy", 1), ("copy", 2)


class ByNumber(ConnectAssignor):
    """Gives tasks with even numbers to the first worker, everything else to the last one."""

    name = "by number"

    def assign(self, group: Group) -> Assignment:
        ids = sorted(each.member_id for each in group.members)
        assert group.configured is not None
        even = frozenset((name, number) for name, number in group.configured if number % 2 == 0)
        odd = frozenset(each for each in group.configured if each[1] >= 0 and each not in even)
        connectors = {(each[0], -1) for each in group.configured if each[1] < 0}
        return Assignment((MemberAssignment(ids[0], even), MemberAssignment(ids[-1], odd | connectors)))


class Program(WorkerRebalanceListener):
    """Keeps its work by plain tuples, and writes a line for each thing that it starts."""

    def __init__(self) -> None:
        self.work: dict[tuple[str, int], str] = {}
        self.lines: list[str] = []

    async def on_assigned(self, resources: frozenset[tuple[str, int]]) -> None:
        for each in sorted(resources):
            self.work[each[0], each[1]] = tell(each)
            self.lines.append(f"starts {each}")

    async def on_revoked(self, resources: frozenset[tuple[str, int]]) -> None:
        for name, number in resources:
            del self.work[name, number]


async def lives(protocol: str) -> None:
    """Two workers share a connector and its tasks; then a task is deleted."""
    async with Kcoord() as kcoord:
        kcoord.configure({COPY, FIRST, SECOND, THIRD})
        a, b = Program(), Program()
        for name, program in (("a", a), ("b", b)):
            await kcoord.start(name, program, group_protocol=protocol, assignors=[ByNumber()])
        await kcoord.settled()
        even, odd = sorted((a, b), key=lambda each: COPY in each.work)
        assert even.work == {FIRST: "copy-0", THIRD: "copy-2"}
        assert odd.work == {COPY: "copy", SECOND: "copy-1"}
        assert kcoord.runs() == {"a": a.work.keys(), "b": b.work.keys()}
        assert {*a.lines, *b.lines} == {f"starts ('copy', {number})" for number in (-1, 0, 1, 2)}
        kcoord.configure([COPY, FIRST, SECOND])
        await kcoord.settled()
        assert even.work.keys() == {FIRST}


async def asks() -> None:
    """A worker runs the only task, and asks whether it still may."""
    async with Kcoord() as kcoord:
        kcoord.configure([FIRST])
        worker = (await kcoord.start("a", Program())).worker
        await kcoord.settled()
        assert worker.may_run(FIRST)
        assert not worker.may_run(SECOND)


@pytest.mark.parametrize("protocol", ["connect", "classic"])
def test_a_program_of_plain_tuples_from_the_first_assignment_to_a_deleted_task(protocol: str) -> None:
    run(lives(protocol))


def test_a_program_asks_by_a_plain_tuple_whether_it_may_run_something() -> None:
    run(asks())


def test_what_was_given_as_a_plain_tuple_has_names_and_equals_it() -> None:
    configured = Configured(1, [COPY, FIRST])
    assert configured.resources == {COPY, FIRST}
    assert configured == Configured(1, {Resource("copy", 0), Resource("copy", -1)})
    assert sorted(configured.resources) == [COPY, FIRST]
    assert [(each.connector, each.task_id, each.is_connector) for each in sorted(configured.resources)] == [
        ("copy", -1, True),
        ("copy", 0, False),
    ]
    assert f"{sorted(configured.resources)}" == "[('copy', -1), ('copy', 0)]"

"""The assignors of a simulated group, and their failures: the assignors that kcoord brings, made to go wrong.

A flawed assignor fails, reports that it failed, takes too long, or returns nonsense: a resource twice, a resource that
does not exist, nothing for some member, or something for a member that is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import attrs

from kcoord.assign import Assignment, Group, MemberAssignment, ServerAssignor
from kcoord.assign.built_in import CLIENT_SIDE
from kcoord.sim.context import RunContext
from kcoord.worker.actions import Assign


class AssignorFailed(Exception):
    """A server-side assignor may raise anything."""


def _failing(assignment: Assignment) -> Assignment | None:
    return None


def _reporting(assignment: Assignment) -> Assignment | None:
    return attrs.evolve(assignment, error=7)


def _twice(assignment: Assignment) -> Assignment | None:
    """Every member gets what one member gets."""
    most = max((each.resources for each in assignment.members), key=len, default=frozenset())
    return attrs.evolve(assignment, members=tuple(attrs.evolve(each, resources=most) for each in assignment.members))


def _stranger(assignment: Assignment) -> Assignment | None:
    return attrs.evolve(assignment, members=(*assignment.members, MemberAssignment("nobody")))


def _unknown(assignment: Assignment) -> Assignment | None:
    first, *others = assignment.members
    first = attrs.evolve(first, resources=first.resources | {("nothing", 0)})
    return attrs.evolve(assignment, members=(first, *others))


def _short(assignment: Assignment) -> Assignment | None:
    return attrs.evolve(assignment, members=assignment.members[1:], scheduled_delay_ms=0)


FLAWS: tuple[Callable[[Assignment], Assignment | None], ...] = (
    _failing, _reporting, _twice, _stranger, _unknown, _short,
)  # fmt: skip
"""What may become of an assignment."""


class Assignors:
    """The client-side assignors of the workers of this run."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._random = context.random
        self._known = {name: make() for name, make in CLIENT_SIDE.items()}

    def assign(self, action: Assign) -> tuple[Assignment | None, int]:
        """The assignment, and how long it takes, in ms."""
        context, chance = self._context, self._random.random
        group = action.group
        if not context.plan.tells:
            # nobody reports what exists: the assignors of these workers know it from elsewhere
            group = attrs.evolve(group, configured=context.configured)
        assignment: Assignment | None = self._known[action.assignor].assign(group)
        takes_ms = int(chance() * 50)
        if context.faulty and chance() < context.plan.flawed:
            if chance() < 0.2:
                return assignment, int(chance() * 20_000)
            flaw = self._random.choice(FLAWS)
            if context.plan.tells or flaw is _failing or flaw is _reporting:
                assert assignment is not None
                assignment = flaw(assignment)
        return assignment, takes_ms


class FlawedServerAssignor:
    """A server-side assignor that fails now and then."""

    def __init__(self, inner: ServerAssignor, random: Random, flawed: Callable[[], float]) -> None:
        self.name = inner.name
        self._inner = inner
        self._random = random
        self._flawed = flawed

    def assign(self, group: Group) -> Assignment:
        """Assign as the inner one does, unless it goes wrong."""
        assignment = self._inner.assign(group)
        if self._random.random() < self._flawed():
            flawed = self._random.choice(FLAWS)(assignment)
            if flawed is None:
                raise AssignorFailed("on purpose")
            return flawed
        return assignment

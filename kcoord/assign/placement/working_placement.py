"""The board: who runs what while a placement is worked out, and the best place for a connector or a task.

To find a place, the board looks at the lightest worker of each cell (`ranking`, `reading`), and remembers what it has
found until something moves. So thousands of tasks that have no place cost hardly more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from kcoord.assign.model import Member
from kcoord.assign.placement.compiled_rules import FEW_DOMAINS, Cell, Terms, read
from kcoord.assign.placement.ranking import Entry, Ranking
from kcoord.assign.placement.rules import Domain, Rules
from kcoord.resource import CONNECTOR, Resource

Resources = frozenset[Resource]
Kind = Sequence[tuple[str, Sequence[Resource]]]
"""Connectors, or tasks, by the connector's name; the heaviest come first."""
Cost = tuple[int, int]
"""How much soft rules are against the place; how many tasks of its connector are in that domain."""
BEST: Cost = (0, 0)


@attrs.frozen(slots=True)
class Place:
    """A worker that may run something."""

    cost: Cost
    at: int


class Board:
    """Who runs what. Workers are named by their numbers."""

    def __init__(self, members: Sequence[Member], everything: Resources, rules: Rules) -> None:
        self._members = members
        self._reading = read(rules, members, {name for name, _ in everything})
        self.terms = self._reading.terms
        self.owners: dict[Resource, int] = {}
        self._runs: list[Resources | set[Resource]] = []
        """Each becomes a set at its first change."""
        self._in_domain: dict[str, dict[str, int]] = {name: {} for name in self.terms}
        """By connector and domain: how many of its tasks are there, if they are to be spread."""
        self._on_side: list[dict[int, int]] = [{} for _ in members]
        """By worker and side of a separation: how many of the resources that it runs are on that side."""
        self._sides = [0] * len(members)
        """By worker: the sides on which it runs something, as bits."""
        self.changes = 0
        """How often something has been added or removed."""
        loads = self._take_stock(everything)
        self.newcomers = frozenset([at for at, runs in enumerate(self._runs) if not runs])
        """The workers that had nothing."""
        self._cells: list[Cell] = []
        self._numbers: dict[tuple[object, int], int] = {}
        """The numbers of cells, by the kind of their workers and the sides."""
        self._cell_of = [self._cell(at) for at in range(len(members))]
        self._total = Ranking(loads, self._cell_of)
        self._kind: Ranking | None = None
        """Workers ranked by their load of the kind that is being balanced."""
        self._candidates: dict[Terms, tuple[int, list[tuple[int, Cell]]]] = {}
        """How many cells have been looked at; those that may be places, and how much soft rules are against each."""
        self._places: dict[Terms | str, Place | None] = {}
        self._takers: dict[tuple[object, ...], Entry | None] = {}
        """`_places` and `_takers` are cleared when something changes."""

    # Who runs what

    def _take_stock(self, everything: Resources) -> list[int]:
        """Note what each worker runs now, and return its load. If two workers have a resource, it counts for the first
        one.
        """
        owners, terms_of, loads = self.owners, self.terms, []
        for at, member in enumerate(self._members):
            runs, load = member.target & everything, 0
            if not owners.keys().isdisjoint(runs):
                runs -= owners.keys()
            for resource in runs:
                terms = terms_of[resource.connector]
                owners[resource] = at
                load += terms.weight
                if terms.sides:
                    self._count_sides(terms, at, 1)
                if terms.over is not None and resource.task_id != CONNECTOR:
                    self._count_in_domain(resource.connector, terms.over, at, 1)
            self._runs.append(runs)
            loads.append(load)
        return loads

    def targets(self) -> dict[str, Resources]:
        """What each worker is to run."""
        return {
            member.member_id: member.target if member.target == runs else frozenset(runs)
            for member, runs in zip(self._members, self._runs, strict=True)
        }

    def add(self, resource: Resource, at: int) -> None:
        """Let the worker run the resource."""
        self.owners[resource] = at
        self._own_runs(at).add(resource)
        self._change(resource, at, 1)

    def remove(self, resource: Resource) -> None:
        """Let nobody run the resource."""
        at = self.owners.pop(resource)
        self._own_runs(at).discard(resource)
        self._change(resource, at, -1)

    def move_to_best(self, resource: Resource) -> None:
        """Move the resource to its best place. There must be one."""
        self.remove(resource)
        place = self.find(resource)
        assert place is not None
        self.add(resource, place.at)

    def _own_runs(self, at: int) -> set[Resource]:
        runs = self._runs[at]
        if not isinstance(runs, set):
            runs = self._runs[at] = set(runs)
        return runs

    def _change(self, resource: Resource, at: int, by: int) -> None:
        terms = self.terms[resource.connector]
        self.changes += 1
        self._places.clear()
        self._takers.clear()
        for ranking in (self._total, self._kind):
            if ranking is not None:
                ranking.change(at, self._cell_of[at], by * terms.weight)
        if terms.over is not None and resource.task_id != CONNECTOR:
            self._count_in_domain(resource.connector, terms.over, at, by)
        if terms.sides:
            sides = self._sides[at]
            self._count_sides(terms, at, by)
            if self._sides[at] != sides:
                self._regroup(at)

    def _count_sides(self, terms: Terms, at: int, by: int) -> None:
        counts = self._on_side[at]
        for side in terms.sides:
            counts[side] = counts.get(side, 0) + by
            self._sides[at] = self._sides[at] | side if counts[side] else self._sides[at] & ~side

    def _count_in_domain(self, connector: str, over: Domain, at: int, by: int) -> None:
        domain, theirs = self._reading.domains[over][at], self._in_domain[connector]
        theirs[domain] = theirs.get(domain, 0) + by

    # Cells

    def _regroup(self, at: int) -> None:
        """Move the worker to another cell: what it runs is on other sides of separations now."""
        old, new = self._cell_of[at], self._cell(at)
        self._cell_of[at] = new
        for ranking in (self._total, self._kind):
            if ranking is not None:
                ranking.regroup(at, old, new)

    def _cell(self, at: int) -> int:
        """The number of the worker's cell."""
        key = (self._reading.kinds[at], self._sides[at])
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._cells)
            domains = {over: theirs[at] for over, theirs in self._reading.domains.items() if self._has_few(over)}
            self._cells.append(Cell(number, self._reading.capacities[at], at, self._sides[at], domains))
        return number

    def _has_few(self, over: Domain) -> bool:
        return len(self._reading.workers_in[over]) <= FEW_DOMAINS

    def _cells_for(self, terms: Terms) -> list[tuple[int, Cell]]:
        """The cells that hard rules allow, without regard to capacities, and how much soft rules are against each, the
        best first.
        """
        seen, found = self._candidates.get(terms, (0, []))
        if seen < len(self._cells):
            new = [(self._unwanted(terms, cell.example, cell.sides), cell) for cell in self._cells[seen:]
                   if cell.example in terms.allowed and not cell.sides & terms.hard_apart]  # fmt: skip
            found = sorted([*found, *new], key=lambda each: each[0])
            self._candidates[terms] = len(self._cells), found
        return found

    # What rules say of a place

    def suspects(self, name: str, resources: Sequence[Resource]) -> list[Resource]:
        """The resources of one connector that a hard rule may forbid where they are."""
        terms, owners = self.terms[name], self.owners
        allowed, loads, capacities = terms.allowed, self._total.loads, self._reading.capacities
        owned = [resource for resource in resources if resource in owners]
        if terms.hard_apart:
            return owned
        return [each for each in owned if (at := owners[each]) not in allowed or loads[at] > capacities[at]]

    def why_not_here(self, resource: Resource) -> str | None:
        """Why a hard rule forbids the resource where it is; None: no rule does."""
        at, terms = self.owners[resource], self.terms[resource.connector]
        if at not in terms.allowed:
            return f"it may not run on {self._members[at].member_id}"
        if self._total.loads[at] > self._reading.capacities[at]:
            return self._is_full(at)
        if self._other_sides(terms, at) & terms.hard_apart:
            return self._is_apart(at)
        return None

    def why_nowhere(self, resource: Resource) -> str:
        """Why the resource cannot be placed. Call this only if no place was found."""
        terms = self.terms[resource.connector]
        at = terms.first
        if at < 0:
            return "no worker is allowed to run it"
        is_full = self._total.loads[at] + terms.weight > self._reading.capacities[at]
        why = self._is_full(at) if is_full else self._is_apart(at)
        return f"of {len(terms.allowed)} workers that may run it none can: {why}"

    def _is_full(self, at: int) -> str:
        return f"{self._members[at].member_id} has a capacity of {self._reading.capacities[at]}"

    def _is_apart(self, at: int) -> str:
        return f"{self._members[at].member_id} runs what it is to be separate from"

    def cost_here(self, resource: Resource) -> Cost:
        """How much soft rules are against the resource's present place, not counting the resource itself."""
        at, terms = self.owners[resource], self.terms[resource.connector]
        unwanted = self._unwanted(terms, at, self._other_sides(terms, at)) if terms.is_choosy else 0
        if terms.over is None or resource.task_id == CONNECTOR:
            return unwanted, 0
        return unwanted, self._in_domain[resource.connector][self._reading.domains[terms.over][at]] - 1

    def may_improve(self, resource: Resource) -> bool:
        """Whether a connector, or the tasks of one, may have a better place; `resource` is the first of them."""
        terms = self.terms[resource.connector]
        if terms.is_choosy:
            return True
        if terms.over is None or resource.task_id == CONNECTOR:
            return False
        counts = self._in_domain[resource.connector]
        return max(counts.values(), default=0) > self._least(terms.over, counts) + 1

    def _least(self, over: Domain, counts: Mapping[str, int]) -> int:
        """The number of tasks in the domain that has the fewest."""
        taken = [count for count in counts.values() if count]
        return min(taken) if len(taken) == len(self._reading.workers_in[over]) else 0

    def _other_sides(self, terms: Terms, at: int) -> int:
        """The sides on which something else runs at the worker than one resource with these terms, which runs there."""
        sides, counts = self._sides[at], self._on_side[at]
        for side in terms.sides:
            if counts[side] == 1:
                sides &= ~side
        return sides

    @staticmethod
    def _unwanted(terms: Terms, at: int, sides: int) -> int:
        return (at not in terms.preferred) + sum([bool(sides & each) for each in terms.soft_apart])

    # The best place

    def find(self, resource: Resource) -> Place | None:
        """The place that soft rules want most; of several, the one with the least load. None: no place is left.

        The resource itself counts where it is, so its present place never seems better than it is.
        """
        terms = self.terms[resource.connector]
        is_spread = terms.over is not None and resource.task_id != CONNECTOR
        key = resource.connector if is_spread else terms
        if key not in self._places:
            self._places[key] = self._find(terms, self._in_domain[resource.connector] if is_spread else None)
        return self._places[key]

    def _find(self, terms: Terms, counts: Mapping[str, int] | None) -> Place | None:
        best: tuple[int, int, int, int] | None = None
        least = 0 if counts is None or terms.over is None else self._least(terms.over, counts)
        for unwanted, cell in self._cells_for(terms):
            if best is not None and unwanted > best[0]:
                break
            order, room = self._total.in_cell(cell.number), cell.capacity - terms.weight
            if order and order[0][0] <= room:
                found = (unwanted, 0, *order[0])
                if counts is not None:
                    found = (unwanted, *self._least_taken(terms, cell, counts, least))
                best = found if best is None else min(best, found)
        return None if best is None else Place(best[:2], best[3])

    def _least_taken(self, terms: Terms, cell: Cell, counts: Mapping[str, int], least: int) -> tuple[int, int, int]:
        """For the best worker of the cell: how many tasks of the connector are in its domain, its load, and its number.
        No domain has fewer tasks than `least`.
        """
        assert terms.over is not None
        order, room = self._total.in_cell(cell.number), cell.capacity - terms.weight
        if terms.over in cell.domains:
            return (counts.get(cell.domains[terms.over], 0), *order[0])
        domains = self._reading.domains[terms.over]
        best: tuple[int, int, int] | None = None
        for load, at in order:
            count = counts.get(domains[at], 0)
            if load > room or (best is not None and best[0] <= least):
                break
            if best is None or count < best[0]:
                best = count, load, at
        assert best is not None
        return best

    # Balance

    def layout_of(self, kind: Kind) -> tuple[list[list[Resource]], list[int]]:
        """What each worker has of one kind, and the weight of that."""
        owners, loads = self.owners, [0] * len(self._members)
        theirs: list[list[Resource]] = [[] for _ in self._members]
        for name, resources in kind:
            weight = self.terms[name].weight
            for resource in resources:
                at = owners.get(resource)
                if at is not None:
                    theirs[at].append(resource)
                    loads[at] += weight
        return theirs, loads

    def begin_balance(self, loads: list[int]) -> None:
        """Rank workers by these loads of one kind, until the balance ends."""
        self._kind = Ranking(loads, self._cell_of)
        self._takers.clear()

    def end_balance(self) -> None:
        """Stop ranking workers by the loads of one kind."""
        self._kind = None

    def givers(self) -> Iterator[int]:
        """The workers whose load is above the lightest one's by 2 or more, the heaviest first. Nothing may change
        meanwhile.
        """
        assert self._kind is not None
        least = self._kind.all[0][0]
        for load, at in reversed(self._kind.all):
            if load - least < 2:
                return
            yield at

    def find_taker(self, resource: Resource, giver: int) -> int | None:
        """The worker with the least load of this kind that would still be lighter than the giver without the resource,
        and where no rule is kept less well.
        """
        assert self._kind is not None
        terms = self.terms[resource.connector]
        below = self._kind.loads[giver] - terms.weight
        if self._kind.all[0][0] >= below:
            return None
        cost = self.cost_here(resource)
        if terms.over is None or resource.task_id == CONNECTOR:
            found = [self._remember((terms, cost), lambda: self._taker(terms, cost, None, ""))]
        else:
            name, domain = resource.connector, self._reading.domains[terms.over][giver]
            is_in_cells = self._has_few(terms.over)
            stays_in = domain if is_in_cells else ""
            found = [self._remember((name, cost, stays_in), lambda: self._taker(terms, cost, name, stays_in))]
            if not is_in_cells:
                found.append(self._remember((terms, cost[0], domain), lambda: self._near(terms, cost[0], domain)))
        taker = min([each for each in found if each is not None], default=None)
        return taker[1] if taker is not None and taker[0] < below else None

    def may_reach_newcomer(self, giver: int, weight: int) -> bool:
        """Whether a worker that had nothing is lighter than the giver would be without this weight."""
        assert self._kind is not None
        loads = self._kind.loads
        least = self._remember((), lambda: min([(loads[at], at) for at in self.newcomers], default=None))
        return least is not None and least[0] < loads[giver] - weight

    def _remember(self, key: tuple[object, ...], look: Callable[[], Entry | None]) -> Entry | None:
        """What was found for this key, until something changes."""
        if key not in self._takers:
            self._takers[key] = look()
        return self._takers[key]

    def _taker(self, terms: Terms, cost: Cost, name: str | None, domain: str) -> Entry | None:
        """The lightest worker that may take the resource at this cost or less. `name`: the connector, if its tasks are
        to be spread; they may stay in this domain.
        """
        best: Entry | None = None
        for unwanted, cell in self._cells_for(terms):
            if unwanted > cost[0]:
                break
            counts = self._in_domain[name] if name is not None and unwanted == cost[0] else None
            found = self._lightest(terms, cell, counts, cost[1], domain)
            best = found if best is None or (found is not None and found < best) else best
        return best

    def _lightest(
        self, terms: Terms, cell: Cell, counts: Mapping[str, int] | None, others: int, domain: str
    ) -> Entry | None:
        """The lightest worker of the cell that has room; with `counts`, only if its domain has no more than `others`
        tasks.
        """
        assert self._kind is not None
        order, loads, room = self._total.in_cell(cell.number), self._total.loads, cell.capacity - terms.weight
        if not order or order[0][0] > room:
            return None
        found = (each for each in self._kind.in_cell(cell.number) if loads[each[1]] <= room)
        if counts is not None and terms.over is not None:
            known = cell.domains.get(terms.over)
            if known is None:
                domains = self._reading.domains[terms.over]
                found = (each for each in found if counts.get(domains[each[1]], 0) <= others)
            elif known != domain and counts.get(known, 0) > others:
                return None
        return next(found, None)

    def _near(self, terms: Terms, unwanted: int, domain: str) -> Entry | None:
        """The lightest worker of the domain that may take the resource."""
        assert self._kind is not None
        assert terms.over is not None
        places = [
            (self._kind.loads[at], at)
            for at in self._reading.workers_in[terms.over][domain]
            if at in terms.allowed
            and not self._sides[at] & terms.hard_apart
            and self._total.loads[at] + terms.weight <= self._reading.capacities[at]
            and self._unwanted(terms, at, self._sides[at]) <= unwanted
        ]
        return min(places, default=None)

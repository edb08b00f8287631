"""Shaping: weights, affinity, separation, spread and capacity, with as few moves as they need.

It starts from the targets that the workers have, not from the assignor's own balance. It takes four steps, once for
connectors and once for tasks (Connect balances them separately):

1. What runs where a hard rule forbids it is taken away, if another worker may run it, or if the rules say `stop`.
2. What nobody runs is given out, the heaviest first: to a worker that is allowed and, if there are any, preferred; of
   those to the one in whose domain the fewest tasks of the connector are (if they are to be spread), then to the one
   with the least load.
3. What runs on a worker that soft rules do not prefer, or beside too many tasks of its connector in one domain, moves.
4. Something moves from the worker with the most load to one with less, as long as that makes the difference smaller and
   no rule is kept less well.

Each move from one worker to another uses up one of the moves that drains have left of `max_moves`. The exception is
what the last step gives to a worker that had nothing at all: it has just come, and would be filled at once without
rules too. If that moves on to a worker that had something, it uses up a move.

The board finds the places (`board`); the cost of that does not grow with the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

import attrs

from kcoord.assign.model import Member
from kcoord.assign.placement.rules import LIGHT, Rules
from kcoord.assign.placement.working_placement import BEST, Board, Kind
from kcoord.resource import CONNECTOR, Resource

Resources = frozenset[Resource]
WAITS = "a place is free now, but max.moves is used up: it starts there in the next step"
"""Why something is not placed that was stopped in the same step."""
MAX_ROUNDS = 8
"""One step may make room for another, so they are taken again: at most this many times, and mostly twice."""


@attrs.define
class Shape:
    """Targets, and what could not be done by the rules."""

    targets: dict[str, Resources]
    unplaced: dict[Resource, str] = attrs.Factory(dict)
    unmet: dict[Resource, str] = attrs.Factory(dict)
    has_more: bool = False


def shape(members: Sequence[Member], wanted: Mapping[str, Resources], rules: Rules, moves: int) -> Shape:
    """Place all that is in `wanted` on these members by the rules, with at most this number of moves."""
    everything: Resources = frozenset().union(*wanted.values())
    board = Board(sorted(members, key=lambda each: each.member_id), everything, rules)
    shaper = _Shaper(board, rules, moves)
    kinds = _by_kind(board, everything)
    for _ in range(MAX_ROUNDS):
        if not shaper.place_all(kinds):
            break
    return shaper.result()


def find_forbidden(member: Member, runs: Resources, stays: Resources, rules: Rules) -> dict[Resource, str]:
    """What hard rules forbid on this worker, the heaviest first, and why. Without it the rest may run there. What
    `stays` there still counts, forbidden or not.
    """
    board = Board([attrs.evolve(member, target=runs)], runs, rules)
    found: dict[Resource, str] = {}
    for kind in _by_kind(board, runs):
        for resource in [each for _, resources in kind for each in resources]:
            why = board.why_not_here(resource)
            if why is not None:
                found[resource] = why
                if resource not in stays:
                    board.remove(resource)
    return found


def _by_kind(board: Board, resources: Resources) -> tuple[Kind, Kind]:
    connectors: dict[str, list[Resource]] = {}
    tasks: dict[str, list[Resource]] = {}
    for resource in resources:
        (connectors if resource.task_id == CONNECTOR else tasks).setdefault(resource.connector, []).append(resource)
    return _sorted(board, connectors), _sorted(board, tasks)


def _sorted(board: Board, resources: Mapping[str, list[Resource]]) -> Kind:
    names = sorted(resources, key=lambda name: (-board.terms[name].weight, name))
    return [(name, sorted(resources[name], key=_task)) for name in names]


_task = attrgetter("task_id")
"""The sort key among the resources of one connector."""


class _Shaper:
    """Takes the four steps."""

    def __init__(self, board: Board, rules: Rules, moves: int) -> None:
        self._board = board
        self._rules = rules
        self._moves = moves
        self._found = Shape({})
        self._balanced: dict[int, tuple[int, bool]] = {}
        """By kind: how many changes the board had when it was last balanced, and whether more was to move then."""
        self._stopped: dict[Resource, int] = {}
        """What was stopped because it had no other place, and the worker that ran it before."""
        self._loose: set[Resource] = set()
        """What nobody ran, or what a move has been spent on: it may move again at no cost."""

    def place_all(self, kinds: Iterable[Kind]) -> bool:
        """Take the four steps once. True if they should be taken again: something has changed, and more may change."""
        before, self._found.has_more = self._board.changes, False
        for number, kind in enumerate(kinds):
            self._place_kind(kind)
            self._balance(number, kind)
        return self._board.changes > before and (self._may_move() or bool(self._found.unplaced))

    def _place_kind(self, kind: Kind) -> None:
        """Place connectors, or tasks."""
        for name, resources in kind:
            self._leave_forbidden(name, resources)
        for _, resources in kind:
            for resource in resources:
                if resource not in self._board.owners:
                    self._give(resource)
        for _, resources in kind:
            if self._board.may_improve(resources[0]):
                for resource in resources:
                    if self._may_move():
                        self._improve(resource)

    def result(self) -> Shape:
        """The result. What has left a worker may have made room for something that was not met before."""
        board, found = self._board, self._found
        found.targets = board.targets()
        found.unmet = {each: why for each, why in found.unmet.items() if board.why_not_here(each) is not None}
        return found

    def _may_move(self) -> bool:
        """Whether to look for further moves: not if none is left and it is known that more is to move."""
        return self._moves > 0 or not self._found.has_more

    # What is forbidden where it is

    def _leave_forbidden(self, name: str, resources: Sequence[Resource]) -> None:
        board, unmet = self._board, self._found.unmet
        if unmet:
            for resource in resources:
                unmet.pop(resource, None)
        for resource in board.suspects(name, resources):
            why = board.why_not_here(resource)
            if why is not None:
                self._leave(resource, why)

    def _leave(self, resource: Resource, why: str) -> None:
        if self._board.find(resource) is not None:
            self._move(resource)
        elif self._rules.stops:
            self._stop(resource)
        else:
            self._found.unmet[resource] = f"{why}, and there is no other place"

    def _stop(self, resource: Resource) -> None:
        """Take it from its worker. `_give` then finds another place for it, or says why it runs nowhere."""
        if resource in self._loose:
            self._loose.remove(resource)
        else:
            self._stopped[resource] = self._board.owners[resource]
        self._board.remove(resource)

    def _move(self, resource: Resource) -> None:
        """Move the resource to its best place, if a move is left for it."""
        if self._spends(resource):
            self._board.move_to_best(resource)

    def _spends(self, resource: Resource) -> bool:
        """Whether the resource may move. A move is spent on it, unless one was already."""
        if resource in self._loose:
            return True
        if self._moves:
            self._moves -= 1
            self._loose.add(resource)
            return True
        self._found.has_more = True
        return False

    # What nobody runs, and what would better run elsewhere

    def _give(self, resource: Resource) -> None:
        place = self._board.find(resource)
        self._found.unplaced.pop(resource, None)
        if place is None:
            self._found.unplaced[resource] = self._board.why_nowhere(resource)
            return
        giver = self._stopped.get(resource)
        if giver is None:
            self._loose.add(resource)
        elif giver != place.at and not self._spends(resource):
            self._found.unplaced[resource] = WAITS
            return
        self._stopped.pop(resource, None)
        self._board.add(resource, place.at)

    def _improve(self, resource: Resource) -> None:
        board = self._board
        if resource not in board.owners:
            return
        cost = board.cost_here(resource)
        if cost == BEST:
            return
        place = board.find(resource)
        if place is not None and place.cost < cost:
            self._move(resource)

    # Balance

    def _balance(self, number: int, kind: Kind) -> None:
        """Balance this kind, unless nothing has changed since the last time."""
        changes, has_more = self._balanced.get(number, (-1, False))
        if changes == self._board.changes:
            self._found.has_more |= has_more
        elif self._may_move() or self._loose or self._board.newcomers:
            self._take_from_heaviest(kind)
            self._balanced[number] = self._board.changes, self._found.has_more

    def _take_from_heaviest(self, kind: Kind) -> None:
        """Take from the heaviest worker until nothing makes the difference smaller. A worker that has nothing to give
        is tried again after others have given.
        """
        board = self._board
        theirs, loads = board.layout_of(kind)
        if max(loads, default=0) - min(loads, default=0) < 2:
            return
        board.begin_balance(loads)
        idle, has_given = dict[int, int](), True
        while has_given:
            idle = {giver: changes for giver, changes in idle.items() if changes == board.changes}
            has_given = False
            while self._give_once(theirs, idle):
                has_given = True
        board.end_balance()

    def _give_once(self, theirs: Sequence[list[Resource]], idle: dict[int, int]) -> bool:
        """Let the heaviest worker that can give something do so. Workers that cannot are noted in `idle`, with the
        number of changes so far.
        """
        may_move, board = self._may_move(), self._board
        loose = set[int]() if may_move else {board.owners[each] for each in self._loose}
        for giver in board.givers():
            if giver in idle:
                continue
            is_asked = may_move or giver in loose or board.may_reach_newcomer(giver, LIGHT)
            if is_asked and self._give_away(giver, theirs):
                return True
            idle[giver] = board.changes
        return False

    def _give_away(self, giver: int, theirs: Sequence[list[Resource]]) -> bool:
        """Move one resource from this worker to another, if that makes their loads more equal and keeps all rules."""
        for resource in self._offers(theirs[giver]):
            if not self._may_give(resource, giver):
                continue
            taker = self._board.find_taker(resource, giver)
            if taker is not None and (taker in self._board.newcomers or self._spends(resource)):
                self._board.remove(resource)
                self._board.add(resource, taker)
                theirs[giver].remove(resource)
                theirs[taker].append(resource)
                return True
        return False

    def _may_give(self, resource: Resource, giver: int) -> bool:
        """Whether a move is left for the resource, or it may need none."""
        if self._may_move() or resource in self._loose:
            return True
        return self._board.may_reach_newcomer(giver, self._board.terms[resource.connector].weight)

    def _offers(self, theirs: Iterable[Resource]) -> list[Resource]:
        """One resource of each connector; first those that are loose."""
        found: dict[str, Resource] = {}
        loose = self._loose
        for resource in theirs:
            name = resource.connector
            if name not in found or (resource in loose and found[name] not in loose):
                found[name] = resource
        return sorted(found.values(), key=lambda each: each not in loose) if loose else list(found.values())

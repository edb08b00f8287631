"""How are stories of assignments told? As tables: what happens, then who shall run what.

Names are short, as in KIP-415: `AC0` is connector A, `AT1` its task 1; `T1` is a resource of some kind.
`Fleet` hands an assignor what the coordinator would (CG-22): targets stay with the departed until an
install without delay, who returns in time gets its own back, a delay is kept as a deadline.

    W1, W2 have         | W1: AC0 AT1 | W2: BC0
    W2 leaves           | W1: AC0 AT1 | 300 s
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import attrs

from kcoord.assign import CONNECTOR, NO_DELAY, ConnectAssignor, Departed, Group, Member, Resource, ServerAssignor
from kcoord.resource import resources_of

DELAY_MS = 300_000

Story: TypeAlias = list[list[str]]
"""Line by line: what happens, then a cell for each member, and one for the delay."""


def lines(text: str) -> Story:
    """A story as it is written."""
    return [[cell.strip() for cell in line.split("|") if cell.strip()] for line in text.strip().splitlines()]


def resources(text: str) -> frozenset[Resource]:
    """`AC0 AT1 T3` as resources."""
    return frozenset(_resource(word) for word in text.split())


def _resource(word: str) -> Resource:
    found = re.fullmatch(r"([A-Z]??)([CT])(\d+)", word)
    assert found, f"{word} is no resource"
    name, kind, number = found.groups()
    return Resource(name or "T", CONNECTOR if kind == "C" else int(number))


def short(resource: tuple[str, int]) -> str:
    """The word for a resource."""
    name, number = resource
    return f"{name}C0" if number == CONNECTOR else f"{name}T{number}".replace("TT", "T")


@attrs.define
class Fleet:
    """A group as its coordinator knows it, and the assignor that is asked."""

    assignor: ServerAssignor | ConnectAssignor
    rebalance_delay_ms: int = DELAY_MS
    members: dict[str, frozenset[Resource]] = attrs.Factory(dict)
    departed: dict[str, frozenset[Resource]] = attrs.Factory(dict)
    configured: frozenset[Resource] = frozenset()
    remaining_delay_ms: int = NO_DELAY
    epochs: dict[str, int] = attrs.Factory(dict)
    """Of members that have been assigned something, or nothing."""

    def play(self, story: Story) -> Story:
        """What comes of a story when each line happens: the same where it is true."""
        told = []
        for what, *cells in story:
            if what.endswith("have"):
                self.start(cells)
            else:
                self.happens(what)
                self.assign()
            told.append([what, *self.told()])
        return told

    def start(self, held: Iterable[str]) -> None:
        """The story begins with this."""
        for cell in held:
            member, _, words = cell.partition(":")
            self.members[member] = resources(words)
            self.configured |= self.members[member]
            self.epochs[member] = 1

    def happens(self, what: str) -> None:
        """One thing happens to the group."""
        subject, _, event = what.rpartition(" ")
        EVENTS[event](self, subject)

    def assign(self) -> None:
        """Ask, and install what is answered."""
        assignment = self.assignor.assign(self.group())
        assert assignment.error == 0
        self.members = {each.member_id: resources_of(each.resources) for each in assignment.members}
        self.epochs = dict.fromkeys(self.members, 1)
        self.remaining_delay_ms = assignment.scheduled_delay_ms or NO_DELAY
        if not assignment.scheduled_delay_ms:
            self.departed = {}

    def group(self) -> Group:
        """What an assignor gets."""
        return Group(
            members=tuple(
                Member(each, target=target, epoch=self.epochs.get(each, 0)) for each, target in self.members.items()
            ),
            configured=self.configured,
            departed=tuple(Departed(each, target=target) for each, target in self.departed.items()),
            remaining_delay_ms=self.remaining_delay_ms,
            rebalance_delay_ms=self.rebalance_delay_ms,
        )

    def told(self) -> list[str]:
        """Who has what, and how long others wait for theirs."""
        rows = [
            f"{member}: {' '.join(sorted(map(short, self.members[member])))}".strip() for member in sorted(self.members)
        ]
        return rows if self.remaining_delay_ms == NO_DELAY else [*rows, f"{self.remaining_delay_ms // 1000} s"]

    def join(self, names: str) -> None:
        for name in names.split():
            self.members[name] = frozenset()

    def leave(self, names: str) -> None:
        for name in names.split():
            self.departed[name] = self.members.pop(name)

    def come_back(self, names: str) -> None:
        for name in names.split():
            self.members[name] = self.departed.pop(name, frozenset()).difference(*self.members.values())

    def add(self, words: str) -> None:
        self.configured |= resources(words)

    def remove(self, words: str) -> None:
        self.configured -= resources(words)

    def wait(self, seconds: str) -> None:
        self.remaining_delay_ms = max(self.remaining_delay_ms - 1000 * int(seconds), 0)


EVENTS: dict[str, Callable[[Fleet, str], None]] = {
    "joins": Fleet.join,
    "join": Fleet.join,
    "leaves": Fleet.leave,
    "leave": Fleet.leave,
    "returns": Fleet.come_back,
    "added": Fleet.add,
    "removed": Fleet.remove,
    "seconds": Fleet.wait,
}

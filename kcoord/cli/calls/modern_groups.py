"""What commands show of any group without a barrier, connect group or consumer group: its members, what each of them
has and waits for, and its history by epochs.

Programs get the same with `--json`: the names are those used here, times are in ms (Unix times or durations), and null
means that there is nothing yet.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import attrs

R = TypeVar("R", bound=tuple[str, int])
M = TypeVar("M", bound="AnyMemberView")

Shares = frozenset[tuple[str, int]]
"""Connectors and tasks, or partitions of topics: a name, and a number."""
AsJson = Callable[[Any], dict[str, Any]]
"""Makes JSON of shares."""

AWAY = "Away"
"""The state of a static member that is away for a while."""
UNSET = -1
"""A number on the wire that stands for "none"."""


@attrs.frozen
class Words:
    """What members and their shares are called in a kind of group."""

    member: str
    members: str
    share: str
    shares: str


@attrs.frozen
class MemberView(Generic[R]):
    """A member of a group."""

    member: str
    instance: str | None
    client: str
    host: str
    epoch: int
    state: str
    """Stable, Waiting (for others to release), Releasing (must release something itself), Away (static)."""
    owns: frozenset[R]
    target: frozenset[R]
    waits_for: frozenset[R]
    must_release: frozenset[R]


AnyMemberView = MemberView[Any]


@attrs.frozen
class Move:
    """What went from one member to another. None means no member."""

    giver: str | None
    taker: str | None
    resources: Shares

    def as_json(self, form: AsJson) -> dict[str, Any]:
        return {"from": self.giver, "to": self.taker, "resources": form(self.resources)}


@attrs.frozen
class Epoch:
    """One group epoch: its reason, and what came of it."""

    epoch: int
    reason: str
    at_ms: int
    installed_ms: int | None
    """When its assignment was installed. None: not yet, or never because the group changed again first."""
    converged_ms: int | None
    """When every member owned its target. None: as above."""
    moved: int
    """How many resources moved. If there are very many, `moves` does not name all of them."""
    moves: tuple[Move, ...]

    @classmethod
    def of(cls, told: Any, moved: Callable[[Any], Shares]) -> "Epoch":
        """The epoch that an entry of history in a response tells. `moved`: what one of its moves names."""
        moves = [Move(move.from_ or None, move.to or None, moved(move)) for move in told.moves]
        return cls(
            told.epoch,
            told.reason,
            told.timestamp_ms,
            none_if_unset(told.installed_ms),
            none_if_unset(told.converged_ms),
            told.moved_count,
            tuple(moves),
        )

    @property
    def installed_after_ms(self) -> int | None:
        return None if self.installed_ms is None else max(self.installed_ms - self.at_ms, 0)

    @property
    def converged_after_ms(self) -> int | None:
        return None if self.converged_ms is None else max(self.converged_ms - self.at_ms, 0)

    def as_json(self, form: AsJson) -> dict[str, Any]:
        return {
            "epoch": self.epoch,
            "reason": self.reason,
            "at_ms": self.at_ms,
            "installed_after_ms": self.installed_after_ms,
            "converged_after_ms": self.converged_after_ms,
            "moved": self.moved,
            "moves": [each.as_json(form) for each in self.moves],
        }


@attrs.frozen
class GroupView(ABC, Generic[M]):
    """A group as its coordinator describes it."""

    KIND: ClassVar[str]
    """The type of the group, as in lists."""
    WORDS: ClassVar[Words]
    FIRST_EPOCH: ClassVar[int]
    """The epoch of a group that has just been made. It has no history."""

    group: str
    coordinator: str
    state: str
    epoch: int
    assignment_epoch: int
    assignor: str
    workers: tuple[M, ...]
    """The members."""
    history: tuple[Epoch, ...]
    """Oldest first."""

    @property
    @abstractmethod
    def note(self) -> str:
        """What is wrong with the group as a whole; empty: nothing."""

    @property
    @abstractmethod
    def computing(self) -> str | None:
        """The member that computes the next assignment; None: nobody computes, or the coordinator does."""

    @property
    def exists(self) -> bool:
        """True, as for a classic group that exists."""
        return True

    @abstractmethod
    def shares_json(self, shares: Any) -> dict[str, Any]:
        """What somebody has, for programs."""

    def history_json(self, last: int) -> dict[str, Any]:
        return {
            "group": self.group,
            "state": self.state,
            "epoch": self.epoch,
            "assignment_epoch": self.assignment_epoch,
            "epochs": [each.as_json(self.shares_json) for each in self.history[-last:]],
        }


AnyGroupView = GroupView[Any]


def none_if_unset(value: int) -> int | None:
    """The number, or None for the one that stands for "none"."""
    return None if value == UNSET else value

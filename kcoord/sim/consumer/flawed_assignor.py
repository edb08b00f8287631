"""An assignor of somebody else's, which goes wrong now and then: it raises, or what it makes is not valid (KG-7).

It draws for itself, so that the rest of a run does not depend on how often it was asked.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup, UniformConsumerAssignor

__all__ = ["FLAWS", "AssignorFailed", "FlawedConsumerAssignor"]


class AssignorFailed(Exception):
    """It may raise anything."""


def _failing(targets: ConsumerTargets) -> ConsumerTargets:
    raise AssignorFailed("on purpose")


def _forgetting(targets: ConsumerTargets) -> ConsumerTargets:
    """Somebody gets nothing."""
    return dict(list(targets.items())[1:])


def _doubling(targets: ConsumerTargets) -> ConsumerTargets:
    """Every member gets what one member gets."""
    most = max(targets.values(), key=lambda target: sum(map(len, target.values())), default={})
    return dict.fromkeys(targets, most)


def _estranged(targets: ConsumerTargets) -> ConsumerTargets:
    return {**targets, "nobody": {}}


FLAWS: tuple[Callable[[ConsumerTargets], ConsumerTargets], ...] = (_failing, _forgetting, _doubling, _estranged)


class FlawedConsumerAssignor:
    """Assigns as `uniform` does, unless it goes wrong."""

    name = "flawed"
    reads_racks = False

    def __init__(self, random: Random, flawed: Callable[[], float]) -> None:
        self._random, self._flawed = random, flawed

    def assign(self, group: SubscribedGroup) -> ConsumerTargets:
        """`flawed` says how likely it is to go wrong now."""
        targets = UniformConsumerAssignor().assign(group)
        return self._random.choice(FLAWS)(targets) if self._random.random() < self._flawed() else targets

"""Weights: what a resource costs to stop or to run, as a whole number that users set by connector.

A connector's weight counts for the connector itself and for each of its tasks. A connector that is not named weighs 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import attrs

from kcoord.resource import Resource

LIGHT = 1
"""The weight of a connector that is not named."""


def _positive(_: object, __: object, given: Mapping[str, int]) -> None:
    for pattern, weight in given.items():
        if weight < LIGHT:
            raise ValueError(f"{pattern} cannot weigh {weight}: weights are whole numbers from {LIGHT}")


@attrs.frozen
class Weights:
    """Weights by a connector's name, or by a pattern of names (`heavy-*`); the first one that fits counts."""

    by_name: Mapping[str, int] = attrs.field(factory=dict, validator=_positive)

    def __bool__(self) -> bool:
        """Whether any weight is set."""
        return bool(self.by_name)

    def of(self, resources: Iterable[Resource]) -> Mapping[str, int]:
        """The weights of these resources, by connector."""
        return {name: self._of(name) for name in {resource.connector for resource in resources}}

    def _of(self, name: str) -> int:
        return next((weight for pattern, weight in self.by_name.items() if fnmatchcase(name, pattern)), LIGHT)

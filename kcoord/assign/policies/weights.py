"""How heavy is a resource? What it costs to stop, or to run: a whole number that users give by connector.

A weight is that of each task of a connector, and of the connector itself. Whoever is not named weighs 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import attrs

from kcoord.assign.resource import Resource

LIGHT = 1
"""What nobody said anything of."""


def _positive(_: object, __: object, given: Mapping[str, int]) -> None:
    for pattern, weight in given.items():
        if weight < LIGHT:
            raise ValueError(f"{pattern} cannot weigh {weight}: weights are whole numbers from {LIGHT}")


@attrs.frozen
class Weights:
    """By a connector's name, or a pattern of names (`heavy-*`); the first that fits counts."""

    by_name: Mapping[str, int] = attrs.field(factory=dict, validator=_positive)

    def __bool__(self) -> bool:
        """Whether anything is said at all."""
        return bool(self.by_name)

    def of(self, resources: Iterable[Resource]) -> Mapping[str, int]:
        """By connector, the weights of these."""
        return {name: self._of(name) for name in {resource[0] for resource in resources}}

    def _of(self, name: str) -> int:
        return next((weight for pattern, weight in self.by_name.items() if fnmatchcase(name, pattern)), LIGHT)

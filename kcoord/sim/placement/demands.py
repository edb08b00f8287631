"""The demands of a group's placement rules, read from its setting without the engine's own code.

Only hard rules are here: cordons and drains, affinities and separations with `only`, and capacities. What
docs/placement.md promises of them is asked of a layout: how many connectors and tasks of which connector each worker
runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import attrs

DEFAULT_MOVES = 5


@attrs.frozen
class Worker:
    """One worker, by its names."""

    member_id: str
    instance_id: str | None
    url: str | None

    def is_named(self, pattern: str) -> bool:
        """Whether a pattern of workers names this one."""
        names = (self.member_id, self.instance_id, self.url)
        return any(name is not None and fnmatchcase(name, pattern) for name in names)


class Demands:
    """The rules of one document."""

    def __init__(self, document: str) -> None:
        self.document = document
        self._tables: Mapping[str, Any] = json.loads(document) if document else {}

    def __bool__(self) -> bool:
        """Whether there are any rules. A limit on how fast they move work is not a rule by itself."""
        return bool(self._tables.keys() - {"max-moves"})

    def _rows(self, name: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = self._tables.get(name, [])
        return found

    @property
    def max_moves(self) -> int:
        """The most connectors and tasks that move at a time because of a rule."""
        return int(self._tables.get("max-moves", DEFAULT_MOVES))

    @property
    def replace_balance(self) -> bool:
        """Whether the rules say more than which workers take no part. Then moves for balance have that limit too."""
        names = ("weight", "affinity", "separation", "spread", "capacity")
        return any(self._tables.get(name) for name in names)

    # -- workers ------------------------------------------------------------------------------------------------------

    def is_cordoned(self, worker: Worker) -> bool:
        """Whether the worker gets nothing new."""
        return any(worker.is_named(row["worker"]) for row in self._rows("cordon"))

    def is_drained(self, worker: Worker) -> bool:
        """Whether what the worker runs is to move away."""
        return any(row.get("drain", False) and worker.is_named(row["worker"]) for row in self._rows("cordon"))

    def capacity(self, worker: Worker) -> int | None:
        """How much the worker may run. None: any weight."""
        return next((int(row["weight"]) for row in self._rows("capacity") if worker.is_named(row["workers"])), None)

    # -- connectors ---------------------------------------------------------------------------------------------------

    def weight(self, connector: str) -> int:
        """How much the connector, and each of its tasks, weighs."""
        return next(
            (int(row["weight"]) for row in self._rows("weight") if fnmatchcase(connector, row["connectors"])), 1
        )

    def is_allowed(self, connector: str, worker: Worker) -> bool:
        """Whether all hard affinities allow the connector there."""
        return all(
            any(worker.is_named(pattern) for pattern in row["workers"])
            for row in self._rows("affinity")
            if row.get("only", True) and fnmatchcase(connector, row["connectors"])
        )

    def _apart_from(self, connector: str, others: Mapping[str, int]) -> Iterator[str]:
        """Those of the other connectors that must not be beside the connector."""
        for row in self._rows("separation"):
            if not row.get("only", True):
                continue
            for other, count in others.items():
                one = fnmatchcase(connector, row["connectors"]) and fnmatchcase(other, row["others"])
                if count and (one or (fnmatchcase(connector, row["others"]) and fnmatchcase(other, row["connectors"]))):
                    yield other

    # -- places -------------------------------------------------------------------------------------------------------

    def why_not(self, connector: str, worker: Worker, runs: Mapping[str, int]) -> str | None:
        """Why a hard rule forbids one more of the connector on a worker that runs these counts. None: no rule does."""
        if not self.is_allowed(connector, worker):
            return f"{connector} may not run on {worker.member_id}"
        capacity = self.capacity(worker)
        carries = sum(count * self.weight(name) for name, count in runs.items()) + self.weight(connector)
        if capacity is not None and carries > capacity:
            return f"{worker.member_id} would carry {carries} of {capacity}"
        apart = next(self._apart_from(connector, runs), None)
        return None if apart is None else f"{worker.member_id} runs {apart}, which {connector} is to be apart from"

    def place_for(
        self, connector: str, layout: Mapping[Worker, Mapping[str, int]], but: Worker | None
    ) -> Worker | None:
        """A worker other than `but` that may take one more of the connector. None: there is none."""
        for worker, runs in layout.items():
            if worker != but and not self.is_cordoned(worker) and self.why_not(connector, worker, runs) is None:
                return worker
        return None

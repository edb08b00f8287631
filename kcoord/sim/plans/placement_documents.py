"""Placement documents of a run: rules of all sorts, as the JSON that a group's setting keeps.

They are drawn before the run begins and are part of its plan. So a plan file sets the same rules even if documents are
drawn differently later. Some contradict each other or cannot be met: all workers drained, an affinity to nobody, no
capacity.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

NO_RULES = ""
"""The document that removes all rules."""
Table = dict[str, Any]

COUNTS = (1, 2, 3, 4)
"""How many documents a run has, besides the one that removes all rules."""
DRAINS_ONLY = 0.4
"""The share of documents that only drain workers, a little at a time: long drains meet the most other faults."""
HOPELESS = 0.1
"""The share of rules that are drawn so that nothing can meet them."""
FEW_MOVES = (1, 1, 2, 3)


def draw_documents(random: Random, workers: int, connectors: int) -> tuple[str, ...]:
    """What a run with these numbers of workers and connectors may set. The last document removes all rules."""
    source = _Source(random, workers, connectors)
    documents = [write_document(source.draw()) for _ in range(random.choice(COUNTS))]
    return (*documents, NO_RULES)


def write_document(tables: Table) -> str:
    """The document with these tables, which are not empty."""
    return json.dumps(tables, separators=(",", ":"))


class _Source:
    """Draws documents that name the workers and connectors of this run."""

    def __init__(self, random: Random, workers: int, connectors: int) -> None:
        self._random = random
        self._workers = workers
        self._connectors = connectors

    def draw(self) -> Table:
        """Draw one document."""
        random = self._random
        if random.random() < DRAINS_ONLY:
            return {"max-moves": random.choice(FEW_MOVES), "cordon": [{"worker": self._worker(), "drain": True}]}
        names = random.sample(sorted(_TABLES), random.choice((1, 1, 2, 3, 4)))
        tables: Table = {}
        for name in sorted(names):
            tables[name] = [_TABLES[name](self) for _ in range(random.choice((1, 1, 2)))]
        if "spread" in tables and random.random() < 0.5:
            tables["zone"] = [{"urls": "http://w[0-1]", "name": "left"}, {"urls": "*", "name": "right"}]
        if random.random() < 0.7:
            tables["max-moves"] = random.choice(FEW_MOVES)
        return tables

    # -- names --------------------------------------------------------------------------------------------------------

    def _worker(self) -> str:
        """A pattern of workers. Mostly it names one, by its url, its instance id or its member id;
        sometimes several.
        """
        at = self._random.randrange(self._workers)
        other = self._random.randrange(self._workers)
        patterns = (f"http://w{at}", f"http://w{at}", f"w{at}", f"w{at}[.-]*", f"i{at}", f"*w{at}*", f"*[{at}{other}]")
        return self._random.choice(patterns)

    def _connector(self) -> str:
        """A pattern of connectors."""
        names = [chr(ord("a") + at) for at in range(self._connectors)]
        return self._random.choice((*names, *names, f"[{names[0]}{names[-1]}]", "*"))

    def _is_hopeless(self) -> bool:
        return self._random.random() < HOPELESS

    # -- tables -------------------------------------------------------------------------------------------------------

    def _cordon(self) -> Table:
        worker = "*" if self._is_hopeless() else self._worker()
        return {"worker": worker, "drain": self._random.random() < 0.6}

    def _weight(self) -> Table:
        return {"connectors": self._connector(), "weight": self._random.choice((2, 3, 5))}

    def _affinity(self) -> Table:
        workers = [self._worker() for _ in range(self._random.choice((1, 2, 3)))]
        return {
            "connectors": self._connector(),
            "workers": ["nobody"] if self._is_hopeless() else workers,
            "only": self._random.random() < 0.7,
        }

    def _separation(self) -> Table:
        return {"connectors": self._connector(), "others": self._connector(), "only": self._random.random() < 0.6}

    def _spread(self) -> Table:
        return {"connectors": self._connector(), "over": self._random.choice(("host", "zone"))}

    def _capacity(self) -> Table:
        worker = "*" if self._random.random() < 0.5 else self._worker()
        return {"workers": worker, "weight": 0 if self._is_hopeless() else self._random.choice((1, 2, 4, 8, 20))}


_TABLES: dict[str, Callable[[_Source], Table]] = {
    "cordon": _Source._cordon,
    "weight": _Source._weight,
    "affinity": _Source._affinity,
    "separation": _Source._separation,
    "spread": _Source._spread,
    "capacity": _Source._capacity,
}

"""The meter of a scenario: the figures of one run, from who ran what when.

A task runs from the end of its start to the beginning of its stop. Counting begins with the first event.

| figure | meaning |
| --- | --- |
| stopped | task-seconds in which a task that was configured ran nowhere |
| longest gap | the longest such time of one task |
| moved | how often a task was started by another worker than the one that ran it before |
| needless | how often a worker stopped a task and then started the same task itself |
| rebalances | generations of a classic group, group epochs of a connect group |
| requests | all requests that the coordinator got, heartbeats too |
| balanced after | from the last event until everything ran, evenly, and stayed so; None: that never happened |

With `only_with_workers`, time without any worker does not count: no choice could have run anything then.

Connectors themselves count only for evenness. If placement rules hold, nothing has to be even.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import attrs

from kcoord.assign import Resource


@attrs.frozen
class Figures:
    """The figures of one run. Times are in seconds."""

    stopped: float
    longest_gap: float
    moved: int
    needless: int
    rebalances: int
    requests: int
    balanced_after: float | None


@attrs.define
class Meter:
    """Who runs what, at each moment."""

    now_ms: Callable[[], int]
    weights: Callable[[Resource], int]
    holders: dict[Resource, str] = attrs.Factory(dict)
    """Resource → the worker that has it, running, starting or stopping. Never two."""
    doubles: list[str] = attrs.Factory(list)
    """A text for each time that two workers had the same resource."""
    alive: set[str] = attrs.Factory(set)
    follows_rules: bool = False
    """Whether placement rules say where work runs. Then nothing has to be even."""
    only_with_workers: bool = False
    """Whether the time without any worker does not count."""
    _configured: set[Resource] = attrs.Factory(set)
    _running: dict[Resource, str] = attrs.Factory(dict)
    _last: dict[Resource, str] = attrs.Factory(dict)
    """Who ran each resource last."""
    _stopped_by_will: dict[Resource, str] = attrs.Factory(dict)
    _since_ms: dict[Resource, int] = attrs.Factory(dict)
    """Since when each resource does not run, in counted time."""
    _deserted_since_ms: int | None = None
    """Since when no worker is there."""
    _deserted_ms: int = 0
    """How long no worker was there before that."""
    _began_ms: int | None = None
    _stopped_ms: int = 0
    _longest_ms: int = 0
    _moved: int = 0
    _needless: int = 0
    _even_since_ms: int | None = None

    # What happens

    def configured(self, resources: Iterable[Resource]) -> None:
        """These resources exist now, and no others."""
        now = set(resources)
        for resource in self._configured - now:
            self._ends_gap(resource)
        for resource in now - self._configured - self._running.keys():
            self._since_ms[resource] = self._counted_ms()
        self._configured = now
        self._look()

    def starts(self, worker: str, resources: Iterable[Resource]) -> None:
        """From now on a worker has these resources, and starts them."""
        for resource in resources:
            other = self.holders.get(resource)
            if other not in (None, worker):
                self.doubles.append(f"{resource} at {other} and {worker}, {self.now_ms()} ms")
            self.holders[resource] = worker

    def runs(self, worker: str, resource: Resource) -> None:
        """The resource has been started."""
        if self.holders.get(resource) != worker or resource in self._running:
            return
        self._ends_gap(resource)
        if self._counts(resource):
            self._moved += self._last.get(resource, worker) != worker
            self._needless += self._stopped_by_will.get(resource) == worker
        self._stopped_by_will.pop(resource, None)
        self._running[resource] = self._last[resource] = worker
        self._look()

    def stops(self, worker: str, resources: Iterable[Resource], *, of_itself: bool) -> None:
        """A worker begins to stop these resources. `of_itself`: because the worker goes."""
        for resource in resources:
            if self._running.get(resource) == worker:
                del self._running[resource]
                self._since_ms[resource] = self._counted_ms()
                if not of_itself:
                    self._stopped_by_will[resource] = worker
        self._look()

    def flush_held_reply(self, worker: str, resources: Iterable[Resource]) -> None:
        """The resources have stopped."""
        for resource in resources:
            if self.holders.get(resource) == worker:
                del self.holders[resource]

    def joins(self, worker: str) -> None:
        """A worker's process begins."""
        self.alive.add(worker)
        if self._deserted_since_ms is not None:
            self._deserted_ms += self.now_ms() - self._deserted_since_ms
            self._deserted_since_ms = None
        self._look()

    def dies(self, worker: str) -> None:
        """The worker's process ends, and with it everything that it ran."""
        held = [resource for resource, holder in self.holders.items() if holder == worker]
        self.stops(worker, held, of_itself=True)
        self.flush_held_reply(worker, held)
        self.alive.discard(worker)
        if self.only_with_workers and not self.alive and self._deserted_since_ms is None:
            self._deserted_since_ms = self.now_ms()
        self._look()

    # What comes of it

    def begin(self) -> None:
        """Begin to count."""
        self._began_ms = self.now_ms()
        for resource in self._since_ms:
            self._since_ms[resource] = self._counted_ms()

    def starting(self) -> bool:
        """Whether something does not run that should run."""
        return not self._configured <= self._running.keys()

    def figures(self, rebalances: int, requests: int, settles_from_ms: int) -> Figures:
        """The figures at the end of the run."""
        for resource in sorted(self._since_ms):
            self._ends_gap(resource)
        self._look()
        even_ms = self._even_since_ms
        return Figures(
            stopped=self._stopped_ms / 1000,
            longest_gap=self._longest_ms / 1000,
            moved=self._moved,
            needless=self._needless,
            rebalances=rebalances,
            requests=requests,
            balanced_after=None if even_ms is None else max(even_ms - settles_from_ms, 0) / 1000,
        )

    def _counted_ms(self) -> int:
        """The time, without the time in which no worker was there."""
        until_ms = self.now_ms() if self._deserted_since_ms is None else self._deserted_since_ms
        return until_ms - self._deserted_ms

    def _counts(self, resource: Resource) -> bool:
        return self._began_ms is not None and not resource.is_connector

    def _ends_gap(self, resource: Resource) -> None:
        since_ms = self._since_ms.pop(resource, None)
        if since_ms is not None and self._counts(resource) and resource in self._configured:
            gap_ms = self._counted_ms() - since_ms
            self._stopped_ms += gap_ms
            self._longest_ms = max(self._longest_ms, gap_ms)

    def _look(self) -> None:
        if not self._even():
            self._even_since_ms = None
        elif self._even_since_ms is None:
            self._even_since_ms = self.now_ms()

    def _even(self) -> bool:
        """Whether everything runs, spread evenly: by number within one, or by weight within the heaviest resource."""
        if self._running.keys() != self._configured or not self.alive:
            return False
        return self.follows_rules or all(self._even_in(connectors) for connectors in (True, False))

    def _even_in(self, connectors: bool) -> bool:
        by_count: dict[str, int] = dict.fromkeys(self.alive, 0)
        by_weight: dict[str, int] = dict.fromkeys(self.alive, 0)
        heaviest = 0
        for resource, worker in self._running.items():
            if resource.is_connector == connectors:
                weight = self.weights(resource)
                by_count[worker] += 1
                by_weight[worker] += weight
                heaviest = max(heaviest, weight)
        return _within(by_count, 1) or _within(by_weight, heaviest)


def _within(loads: Mapping[str, int], most: int) -> bool:
    return max(loads.values()) - min(loads.values()) <= most

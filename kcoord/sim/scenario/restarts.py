"""Restarts: a scenario whose workers go in another way, for example drained first instead of killed.

If one event stops or kills a worker and a later one starts it, that is one restart: if the worker is drained first,
which takes its time, it stays away for as long as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kcoord.sim.scenario.description import LEADER, Event, Scenario, What

SOONEST_S = 0.001
GOING = frozenset({What.STOP, What.KILL})


class Restart(StrEnum):
    """How workers go."""

    DRAIN = "drain"
    """Workers that are stopped or killed are drained first, one after the other, and stopped."""
    DRAIN_STOPS = "drain-stops"
    """Workers that are stopped are drained first. Workers that are killed are killed, because nobody drains what
    crashes.
    """
    STOP = "stop"
    """Workers that are stopped or killed are stopped in order."""
    KILL = "kill"
    """Workers that are stopped or killed are killed."""

    @property
    def drained(self) -> frozenset[What]:
        """The events whose workers are drained first."""
        return {Restart.DRAIN: GOING, Restart.DRAIN_STOPS: frozenset({What.STOP})}.get(self, frozenset())


def restarted(scenario: Scenario, how: Restart) -> Scenario:
    """The same scenario, in which workers go in this way."""
    drained, events = how.drained, scenario.events
    if drained:
        events = tuple(_with_returns(_by_worker(events), drained))
    changes = {"do": What.KILL if how is Restart.KILL else What.STOP, "drain": bool(drained)}
    found = [each.model_copy(update=changes) if each.do in (drained or GOING) else each for each in events]
    return scenario.model_copy(update={"events": tuple(found)})


def _by_worker(events: Sequence[Event]) -> list[Event]:
    """The same events, each for one worker, in order of time."""
    found = []
    for event in events:
        if not event.workers:
            found.append(event)
        for worker, at in event.times():
            found.append(event.model_copy(update={"workers": (worker,), "at": at, "apart": 0.0}))
    return sorted(found, key=lambda each: each.at)


def _with_returns(events: Sequence[Event], drained: frozenset[What]) -> list[Event]:
    """The same events. A worker that is started after it was drained gets a `back` time instead of its start event."""
    found, returned = [], set[int]()
    for place, event in enumerate(events):
        if place in returned:
            continue
        if event.do in drained and event.back is None and event.workers != (LEADER,):
            after = next((at for at in range(place + 1, len(events)) if events[at].workers == event.workers), None)
            if after is not None and events[after].do is What.START:
                returned.add(after)
                away = _middle(events[after]) - _middle(event)
                event = event.model_copy(update={"back": max(away, SOONEST_S)})
        found.append(event)
    return found


def _middle(event: Event) -> float:
    return event.at + event.within / 2

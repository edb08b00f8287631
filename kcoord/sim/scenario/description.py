"""The description of a scenario in a TOML file: a fleet, what it runs, and what happens to it.

Times are in seconds. `docs/policies.md` shows everything that a file can contain.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, ValidationError, model_validator

from kcoord.assign.placement import NO_RULES, Rules
from kcoord.assign.placement.document import read_tables

LEADER = "leader"
"""Instead of a worker's name: the worker that leads at that time. A connect group has no leader: then the
first worker.
"""
BUILT_IN = Path(__file__).parent / "built_in"


class ScenarioError(Exception):
    """An invalid description. The text is one line: which file, where, what."""


Seconds = Annotated[float, Field(ge=0)]


def _rules(said: object) -> Rules:
    """Placement rules from tables as `kcoord placement apply` reads them."""
    if isinstance(said, Rules):
        return said
    if not isinstance(said, Mapping):
        raise ValueError("placement rules are tables, as kcoord placement apply reads them")
    return read_tables(said)


PlacementRules = Annotated[InstanceOf[Rules], BeforeValidator(_rules)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class What(StrEnum):
    """What may happen."""

    START = "start"
    """If the worker runs, it is killed and started again."""
    STOP = "stop"
    """The worker stops its work and leaves."""
    KILL = "kill"
    DRAIN = "drain"
    """The worker gets nothing new, and what it runs moves to others."""
    CORDON = "cordon"
    """The worker gets nothing new."""
    UNCORDON = "uncordon"
    """The worker is used again."""
    CREATE = "create"
    DELETE = "delete"
    RESIZE = "resize"
    """From now on each connector has `tasks` tasks."""
    RULES = "rules"
    """From now on the group has these placement rules and no others."""


OF_CONNECTORS = frozenset({What.CREATE, What.DELETE, What.RESIZE})
OF_PLACEMENT = frozenset({What.DRAIN, What.CORDON, What.UNCORDON, What.RULES})
"""The events that change the group's placement rules."""


class Connectors(_Part):
    """Connectors of one kind."""

    count: Annotated[int, Field(ge=1)] = 1
    """How many connectors: `NAME-0` and so on. A single one is called NAME."""
    names: tuple[str, ...] = ()
    """The connectors' names instead, if rules name them."""
    tasks: Annotated[int, Field(ge=0)]
    """The number of tasks of each connector."""
    weight: Annotated[int, Field(ge=1)] = 1
    start: Seconds = 1
    stop: Seconds = 1
    from_the_start: bool = True
    """Whether they exist when the fleet begins. If not, an event creates them."""

    @model_validator(mode="before")
    @classmethod
    def _counted(cls, said: Any) -> Any:
        """Set the count to the number of names."""
        if isinstance(said, Mapping) and said.get("names") and "count" not in said:
            return {**said, "count": len(said["names"])}
        return said

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.names and len(set(self.names)) != self.count:
            raise ValueError(f"there are {len(set(self.names))} different names for {self.count} connectors")
        return self

    def called(self, name: str) -> list[str]:
        """The names of the connectors."""
        if self.names:
            return list(self.names)
        return [name] if self.count == 1 else [f"{name}-{at}" for at in range(self.count)]


class Event(_Part):
    """Something that happens to workers, one after the other, or to connectors."""

    at: Seconds
    do: What
    workers: tuple[str, ...] = ()
    within: Seconds = 0
    """The event may be later by up to this long: the seed draws by how much for each worker."""
    apart: Seconds = 0
    """How long after one worker the next one follows."""
    drain: bool = False
    """For stop: whether the worker is drained first, and stopped when it runs nothing. Workers that are drained to be
    stopped take turns, also those of several events: the next one is drained when the previous one is back, or has been
    away for five minutes.
    """
    back: Annotated[float, Field(gt=0)] | None = None
    """How long after its stop or death the worker is started again. If it was drained for that, it is also
    used again.
    """
    renamed: bool = False
    """Whether it comes back under another name and address, as a container does that is started elsewhere."""
    connectors: str = ""
    """A kind of connectors."""
    tasks: Annotated[int, Field(ge=0)] | None = None
    """For resize: the number of tasks of each connector after it."""
    rules: PlacementRules | None = None
    """For rules: the tables of docs/placement.md."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.rules is None) == (self.do is What.RULES):
            raise ValueError(f"rules goes with {What.RULES}, which needs it, and with nothing else")
        if self.do is What.RULES and (self.workers or self.connectors):
            raise ValueError("rules happens to the group: name no workers and no connectors")
        of_connectors = self.do in OF_CONNECTORS
        of_workers = not of_connectors and self.do is not What.RULES
        if of_workers != bool(self.workers) or of_connectors != bool(self.connectors):
            whom = "connectors" if of_connectors else "workers"
            raise ValueError(f"{self.do} happens to {whom}: name them, and only them")
        if self.drain and self.do is not What.STOP:
            raise ValueError(f"drain = true goes with stop, not with {self.do}")
        if self.back is not None and self.do not in (What.STOP, What.KILL):
            raise ValueError(f"back goes with stop and kill, not with {self.do}")
        if (self.tasks is None) == (self.do is What.RESIZE):
            raise ValueError(f"tasks goes with {What.RESIZE}, which needs it, and with nothing else")
        return self

    def times(self) -> list[tuple[str, float]]:
        """The earliest time at which it happens to each worker."""
        return [(worker, self.at + self.apart * place) for place, worker in enumerate(self.workers)]

    def last(self) -> float:
        """When the last part of the event has happened."""
        return self.at + self.apart * max(len(self.workers) - 1, 0) + self.within + (self.back or 0)


class Settings(_Part):
    """The settings of the group, and of policies."""

    delay: Seconds = 300
    """How long lost work waits: Connect's `scheduled.rebalance.max.delay.ms`."""
    session: Annotated[float, Field(gt=0)] = 10
    heartbeat: Annotated[float, Field(gt=0)] = 3
    rebalance: Annotated[float, Field(gt=0)] = 60
    """How long stopping may take: the rebalance timeout. A worker that takes longer is evicted, and others get its
    work.
    """
    at_most: Annotated[int, Field(ge=1)] = 5
    """For `design-3`: the most resources that move in a round."""
    interval: Annotated[float, Field(gt=0)] = 10
    """For `design-3`: the time between rounds."""


class Scenario(_Part):
    """A whole scenario."""

    about: str
    """One line for people."""
    workers: Annotated[int, Field(ge=1, le=1_000)]
    """How many workers there are: `w0` and so on."""
    lasts: Annotated[float, Field(gt=0, le=86_400)]
    connectors: dict[str, Connectors]
    settings: Settings = Settings()
    leads: str = ""
    """One of the first workers. It starts a second before the others, so that it leads a fleet of Java's workers."""
    slow: dict[str, Annotated[float, Field(gt=0)]] = {}
    """Worker → how many times as long it takes to start and to stop what it runs."""
    urls: dict[str, Annotated[str, Field(min_length=1)]] = {}
    """The url of a worker, by which rules name it. By default `http://` and its name."""
    rules: PlacementRules = NO_RULES
    """The placement rules that the group has from the start: the tables of docs/placement.md."""
    events: tuple[Event, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _known(self) -> Self:
        slowest = max([1, *self.slow.values()])
        for name, kind in self.connectors.items():
            if kind.stop * slowest >= self.settings.rebalance:
                raise ValueError(
                    f"tasks of {name} take {kind.stop * slowest:g} s to stop, and settings.rebalance allows "
                    f"{self.settings.rebalance:g} s: let it allow more"
                )
        started = [each for event in self.events if event.do is What.START for each in event.workers]
        known = {LEADER, *(f"w{at}" for at in range(self.workers)), *started}
        if self.leads and self.leads not in {f"w{at}" for at in range(self.workers)}:
            raise ValueError(f"leads names worker {self.leads}, which is none of the first: w0 to w{self.workers - 1}")
        for worker in self.urls:
            if worker not in known:
                raise ValueError(f"urls names worker {worker}, and there is none called so")
        if len(set(map(self.url_of, known))) < len(known):
            raise ValueError("urls gives the same url to two workers")
        for event in self.events:
            for worker in event.workers:
                if worker not in known:
                    raise ValueError(f"an event names worker {worker}, and there is none called so")
            if event.connectors and event.connectors not in self.connectors:
                raise ValueError(f"an event names connectors {event.connectors}, and there are none called so")
            if event.last() > self.lasts:
                raise ValueError(f"an event ends after {event.last():g} s, and the scenario lasts {self.lasts:g} s")
        return self

    @model_validator(mode="after")
    def _started_first(self) -> Self:
        """A worker that is stopped or killed has been started by then, whatever the seed draws."""
        started = {LEADER: 0.0, **{f"w{at}": 0.0 for at in range(self.workers)}}
        for event in self.events:
            for worker, at in event.times():
                if event.do is What.START:
                    started[worker] = min(started.get(worker, at + event.within), at + event.within)
        for event in self.events:
            for worker, at in event.times():
                if event.do in (What.STOP, What.KILL) and at + 0.001 < started[worker]:
                    raise ValueError(
                        f"an event is to {event.do} worker {worker} after {at:g} s, and it is started only by "
                        f"{started[worker]:g} s"
                    )
        return self

    def url_of(self, worker: str) -> str:
        """The url by which others, and rules, know the worker."""
        return self.urls.get(worker, f"http://{worker}")

    def has_rules(self) -> bool:
        """Whether the group ever has a placement rule."""
        return bool(self.rules) or any(event.drain or event.do in OF_PLACEMENT for event in self.events)

    def begins(self) -> float:
        """When the first event happens. Counting starts then."""
        return min(event.at for event in self.events)

    def settles_from(self) -> float:
        """When the last event has happened."""
        return max(event.last() for event in self.events)


def load(path: Path) -> Scenario:
    """Read a file. Raises ScenarioError."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        return Scenario.model_validate(found)
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path} is not valid TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ScenarioError(f"{path}: {where + ': ' if where else ''}{first['msg']}") from error


def built_in() -> dict[str, Path]:
    """The scenarios that come with kcoord, by name."""
    return {path.stem: path for path in sorted(BUILT_IN.glob("*.toml"))}

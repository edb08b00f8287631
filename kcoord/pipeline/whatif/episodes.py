"""The episodes of a history: it is cut where nothing happened for long, and each piece becomes a scenario.

Between two pieces the fleet had come to rest under any delay that is tried. So no piece affects the next, and quiet
days cost nothing. A piece begins with the workers that were there and what was configured then. While no worker is
there, there is nothing to choose: the history is cut there too, and goes on with the first worker that comes.

A piece of more than `LONGEST_MS` is cut at the longest silence of its second half.

A replay goes on until everything has come to rest. Its log is compared with the recorded one until the next piece
begins, or until the log ends.

If the log ends with a fleet at rest, its silence is known to be rest. Then the last piece is replayed until it has come
to rest under each choice; otherwise a long delay would cost nothing after the log's last record. If the log ends in the
middle of something, nobody knows what came then: the last piece ends with the log, under each choice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import attrs

from kcoord.pipeline.whatif.fleet import Configured, End, Fleet, Stay
from kcoord.sim.scenario import Scenario
from kcoord.sim.scenario.description import Connectors, Event, Settings, What

SETTLES_MS = 120_000
"""How long after the end of the last possible delay a fleet is at rest."""
LONGEST_MS = 6 * 3_600_000
LEAD_MS = 10_000
LEAVING_MS = 10
"""How long before a worker's leaving was written it had stopped its work, at most."""


@attrs.frozen
class Fitted:
    """What no log says about a fleet, or not for sure. Times are in seconds."""

    delay: float
    session: float
    heartbeat: float
    start: float
    """How long a task takes to start, which no log shows."""
    stop: float
    """How long a task takes to stop, unless something else was seen of its connector."""
    rebalance: float
    """How long stopping may take."""


@attrs.frozen
class Episode:
    """A piece of a history, and the scenario that replays it. The times (unix ms) bound the log's rows that belong to
    it: an epoch that a change of the configuration began has begun before that change was written.
    """

    name: str
    from_ms: int
    to_ms: int
    scenario: Scenario

    begins_ms: int
    """The scenario's second 0 (unix ms)."""

    rests_until_ms: int
    """`to_ms`, or later if the log ended with a fleet at rest: until then nothing happened."""

    def compared_ms(self) -> int:
        """How long a replay's log is compared with the recorded one, from the scenario's second 0 on."""
        return max(0, self.rests_until_ms - self.begins_ms)


@attrs.frozen
class _Change:
    """Something that happened at some time between the two times (unix ms)."""

    at_ms: int
    until_ms: int
    what: What
    who: str
    """A worker, or a kind of connectors."""
    tasks: int | None = None


@attrs.frozen
class _Like:
    """Connectors of one kind: they were configured at the same times with as many tasks."""

    name: str
    connectors: Sequence[str]
    times: Sequence[Configured]
    stop_ms: int | None
    """Set if stopping takes much longer than usual."""


def episodes(fleet: Fleet, fitted: Fitted, longest_delay: float) -> list[Episode]:
    """Cut the history into episodes. `longest_delay`: the longest delay to try, in seconds."""
    kinds = _kinds(fleet.configured, fleet.stopping.connectors_ms)
    changes = sorted(
        [*_of_workers(fleet.stays, fitted), *_of_connectors(kinds)], key=lambda each: (each.at_ms, each.what, each.who)
    )
    rest_ms = _ms(longest_delay + fitted.session) + SETTLES_MS
    found = []
    for piece in _pieces(changes, rest_ms):
        episode = _episode(piece, fleet, kinds, fitted, rest_ms)
        if episode is not None:
            found.append(episode)
    return _clipped(found, fleet)


def _clipped(found: Sequence[Episode], fleet: Fleet) -> list[Episode]:
    """Clip each episode so that nothing counts twice, and nothing after the end of the log counts."""
    clipped: list[Episode] = []
    for place, each in enumerate(found):
        until_ms = min([each.to_ms, *(following.begins_ms for following in found[place + 1 : place + 2])])
        from_ms = max(each.from_ms, clipped[-1].to_ms) if clipped else each.from_ms
        ends_ms = until_ms if fleet.ends_ms is None else min(until_ms, fleet.ends_ms)
        rests_ms = ends_ms if fleet.is_cut_short else until_ms
        clipped.append(
            attrs.evolve(
                each,
                from_ms=from_ms,
                to_ms=max(ends_ms, from_ms),
                rests_until_ms=max(rests_ms, from_ms),
                scenario=_ended(each, fleet),
            )
        )
    return clipped


def _ended(piece: Episode, fleet: Fleet) -> Scenario:
    """The piece's scenario. If the log was cut short, the scenario ends with it."""
    scenario = piece.scenario
    if fleet.ends_ms is None or not fleet.is_cut_short:
        return scenario
    left = max((fleet.ends_ms - piece.begins_ms) / 1000, scenario.settles_from(), 0.001)
    return scenario.model_copy(update={"lasts": min(scenario.lasts, left)})


# -- what happened -----------------------------------------------------------------------------------------------------


def _of_workers(stays: Iterable[Stay], fitted: Fitted) -> list[_Change]:
    found = []
    for stay in stays:
        found.append(_Change(stay.came.not_before_ms, stay.came.not_after_ms, What.START, stay.worker))
        if stay.went is None:
            continue
        what, at_ms, until_ms = What.KILL, stay.went.not_before_ms, stay.went.not_after_ms
        if stay.end is End.IN_ORDER:  # it stops its tasks, and says that it leaves
            what, at_ms, until_ms = What.STOP, at_ms - _ms(fitted.stop) - LEAVING_MS, until_ms - _ms(fitted.stop)
        soonest_ms = stay.came.not_after_ms
        found.append(_Change(max(at_ms, soonest_ms), max(until_ms, soonest_ms), what, stay.worker))
    return found


def _kinds(configured: Iterable[Configured], slow_ms: Mapping[str, int]) -> list[_Like]:
    by_connector: dict[str, list[Configured]] = {}
    for each in sorted(configured, key=lambda each: each.from_ms):
        by_connector.setdefault(each.connector, []).append(each)
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, times in by_connector.items():
        key = (slow_ms.get(name), *((each.tasks, each.from_ms, each.to_ms) for each in times))
        alike.setdefault(key, []).append(name)
    return [
        _Like(f"c{at}", names, by_connector[names[0]], slow_ms.get(names[0])) for at, names in enumerate(alike.values())
    ]


def _of_connectors(kinds: Iterable[_Like]) -> list[_Change]:
    found = []
    for kind in kinds:
        before: Configured | None = None
        for each in kind.times:
            goes_on = before is not None and before.to_ms == each.from_ms
            what = What.RESIZE if goes_on else What.CREATE
            found.append(_Change(each.from_ms, each.from_ms, what, kind.name, each.tasks))
            if before is not None and before.to_ms is not None and not goes_on:
                found.append(_Change(before.to_ms, before.to_ms, What.DELETE, kind.name))
            before = each
        if before is not None and before.to_ms is not None:
            found.append(_Change(before.to_ms, before.to_ms, What.DELETE, kind.name))
    return found


# -- pieces ------------------------------------------------------------------------------------------------------------


def _pieces(changes: Sequence[_Change], rest_ms: int) -> list[list[_Change]]:
    pieces: list[list[_Change]] = []
    last_ms = 0
    there: set[str] = set()
    for change in changes:
        if not pieces or change.at_ms - last_ms > rest_ms or not there:
            pieces.append([])
        pieces[-1].append(change)
        last_ms = max(last_ms, change.until_ms)
        if change.what is What.START:
            there.add(change.who)
        elif change.what in (What.STOP, What.KILL):
            there.discard(change.who)
    return [short for piece in pieces for short in _short(piece)]


def _short(piece: list[_Change]) -> list[list[_Change]]:
    found = []
    while piece[-1].at_ms - piece[0].at_ms > LONGEST_MS:
        begins_ms = piece[0].at_ms
        most = bisect_right(piece, begins_ms + LONGEST_MS, key=lambda each: each.at_ms)
        least = min(bisect_right(piece, begins_ms + LONGEST_MS // 2, key=lambda each: each.at_ms), most - 1)
        at = max(range(max(least, 1), most + 1), key=lambda each: piece[each].at_ms - piece[each - 1].until_ms)
        found.append(piece[:at])
        piece = piece[at:]
    return [*found, piece]


def _episode(
    piece: Sequence[_Change], fleet: Fleet, kinds: Sequence[_Like], fitted: Fitted, rest_ms: int
) -> Episode | None:
    """An episode. None if nothing happened but that the fleet began."""
    begins_ms = piece[0].at_ms
    there = list(dict.fromkeys(each.worker for each in fleet.stays if _is_there(each, begins_ms)))
    changes = list(piece)
    if not there:
        first = next((each for each in changes if each.what is What.START), None)
        if first is None:
            return None  # something was configured, and no worker was there
        there = [first.who]
        begins_ms = first.at_ms
        changes = [each for each in changes if each is not first and each.at_ms >= begins_ms]
    if not changes:
        return None
    ends_ms = max(each.until_ms for each in changes) + rest_ms
    leader = next((worker for at_ms, worker in reversed(fleet.leaders) if at_ms < begins_ms), None)
    there.sort(key=lambda worker: worker != leader)
    names = _names(there, changes)
    name = datetime.fromtimestamp(begins_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    scenario = Scenario(
        about=f"What happened from {name} on.",
        workers=len(there),
        lasts=(ends_ms - begins_ms) / 1000,
        connectors=_connectors(kinds, changes, begins_ms, fitted),
        settings=Settings(
            delay=fitted.delay, session=fitted.session, heartbeat=fitted.heartbeat, rebalance=fitted.rebalance
        ),
        events=tuple(_event(each, begins_ms, names) for each in changes),
        leads=names[there[0]] if there[0] == leader else "",
        urls=_urls(names, fleet.urls),
        slow={names[worker]: times for worker, times in fleet.stopping.workers.items() if worker in names},
    )
    return Episode(name, begins_ms - LEAD_MS, ends_ms - LEAD_MS, scenario, begins_ms, ends_ms - LEAD_MS)


def _is_there(stay: Stay, at_ms: int) -> bool:
    """Whether the worker was there before what happens at that time."""
    return stay.came.not_before_ms < at_ms and (stay.went is None or stay.went.not_after_ms >= at_ms)


def _names(there: Sequence[str], changes: Iterable[_Change]) -> dict[str, str]:
    """The scenario's names of workers. Workers that are there come first: where ids decide who leads, the lowest id
    does.
    """
    came = [each.who for each in changes if each.what is What.START]
    return {worker: f"w{at}" for at, worker in enumerate(dict.fromkeys([*there, *came]))}


def _urls(names: Mapping[str, str], urls: Mapping[str, str]) -> dict[str, str]:
    """Urls by the scenario's names. If two workers were at one url, the later one has it."""
    found = {urls[worker]: name for worker, name in names.items() if worker in urls}
    return {name: url for url, name in found.items()}


def _connectors(
    kinds: Sequence[_Like], changes: Iterable[_Change], begins_ms: int, fitted: Fitted
) -> dict[str, Connectors]:
    created = {each.who: each.tasks for each in reversed(list(changes)) if each.what is What.CREATE}
    found = {}
    for kind in kinds:
        before = next((each for each in kind.times if each.from_ms < begins_ms <= (each.to_ms or begins_ms)), None)
        tasks = created.get(kind.name) if before is None else before.tasks
        if tasks is not None:  # otherwise it has nothing to do with this piece
            found[kind.name] = Connectors(
                count=len(kind.connectors),
                names=tuple(kind.connectors),
                tasks=tasks,
                start=fitted.start,
                stop=fitted.stop if kind.stop_ms is None else kind.stop_ms / 1000,
                from_the_start=before is not None,
            )
    return found


def _event(change: _Change, begins_ms: int, names: dict[str, str]) -> Event:
    at = (change.at_ms - begins_ms) / 1000
    if change.what in (What.CREATE, What.DELETE, What.RESIZE):
        tasks = change.tasks if change.what is What.RESIZE else None
        return Event(at=at, do=change.what, connectors=change.who, tasks=tasks)
    within = (change.until_ms - change.at_ms) / 1000
    return Event(at=at, within=within, do=change.what, workers=(names[change.who],))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)

"""The question of `whatif`: a history made ready for replays, and the cells to run."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from pydantic import ValidationError

from kcoord.pipeline.failure import PipelineError
from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import CONNECT
from kcoord.pipeline.lab import Cell, NamedRules
from kcoord.pipeline.whatif.advice import NO_DELAY, Choice, delays
from kcoord.pipeline.whatif.episodes import Episode, Fitted, episodes
from kcoord.pipeline.whatif.fleet import Fleet, Tables, fleet_of
from kcoord.pipeline.whatif.logged import Logged, logged, total
from kcoord.sim.scenario import POLICIES, Kind, Restart, follows_rules

DEFAULT_DELAY_S = 300.0
"""Connect's own default, and kcoord's."""
DEFAULT_SESSION_S = 10.0
DEFAULT_STOP_S = 1.0
JAVA_HEARTBEAT_S, OUR_HEARTBEAT_S = 3.0, 5.0
"""The defaults of Connect's workers, and of connect groups."""
JAVA = "kip-415"
OURS = ("design-1", "design-2", "design-3")
LONGEST_STOP_S = 60.0


@attrs.frozen
class Asked:
    """What the user has given. What is left out comes from the history. Times are in seconds."""

    kinds: Sequence[Kind] = ()
    policies: Sequence[str] = ()
    delays: Sequence[float] = ()
    restarts: Sequence[Restart] = ()
    """Tried beside how workers really went."""
    rules: Sequence[NamedRules] = ()
    """Tried beside no rules."""
    seeds: int = 10
    policy: str | None = None
    """The policy by which the group really assigned."""
    delay: float | None = None
    """The delay that the group really had."""
    session: float | None = None
    heartbeat: float | None = None
    start: float = 1.0
    stop: float | None = None


@attrs.frozen
class Question:
    """Everything to run."""

    fleet: Fleet
    fitted: Fitted
    recorded: Choice | None
    """What was really run. None if that cannot be simulated."""
    episodes: Sequence[Episode]
    cells: Sequence[Cell]
    outages: Sequence[Row] = ()
    """When the coordinator was away."""

    def away_ms(self) -> int:
        """How long the coordinator was away, in all episodes together."""
        return sum(
            max(0, min(row["to_at"], each.to_ms) - max(row["from_at"], each.from_ms))
            for each in self.episodes
            for row in self.outages
        )

    def logged(self, tables: Tables) -> Logged:
        """What the recorded log says of all episodes together."""
        return total(self.logged_by_episode(tables).values())

    def logged_by_episode(self, tables: Tables) -> dict[str, Logged]:
        """What the recorded log says of each episode, by its name."""
        return {each.name: logged(tables, each.from_ms, each.to_ms) for each in self.episodes}


def question(tables: Tables, asked: Asked) -> Question:
    """Make the question. Raises PipelineError if nothing happened that could be replayed."""
    heartbeat = _heartbeat(tables, asked)
    fleet = fleet_of(tables, round(heartbeat * 1000))
    if fleet.kind is None:
        raise PipelineError("no worker of this group ever ran anything: there is nothing to replay")
    fitted = _fitted(fleet, asked, heartbeat)
    policy = asked.policy or fleet.policy
    recorded = Choice(fleet.kind, policy, fitted.delay) if policy in POLICIES else None
    tried = sorted({*asked.delays, fitted.delay}) if asked.delays else delays(fitted.delay, fleet.absences_ms()[0])
    try:
        found = episodes(fleet, fitted, max(tried))
    except ValidationError as error:
        raise PipelineError(f"this history cannot be simulated: {error.errors()[0]['msg']}") from None
    if not found:
        raise PipelineError(
            "nothing happened in this group's history but that it began: no worker came or went, and nothing was "
            "configured anew"
        )
    choices = _choices(fleet.kind, recorded, asked, tried)
    if _ways(asked) and not any(each.restart or each.rules for each in choices):
        raise PipelineError(
            "drains and placement rules do not work in a group whose workers all join together: try kind individual or "
            "connect"
        )
    named = {each.name: each for each in asked.rules}
    cells = [
        Cell(
            each.name,
            choice.kind,
            choice.policy,
            choice.delay,
            seed,
            None if choice.restart is None else Restart(choice.restart),
            None if choice.rules is None else named[choice.rules],
        )
        for each in found
        for choice in choices
        for seed in range(asked.seeds)
    ]
    return Question(fleet, fitted, recorded, found, cells, tables.outages)


def _heartbeat(tables: Tables, asked: Asked) -> float:
    """How often workers heartbeat. No log says it: the default of most of the workers, unless the user has given it."""
    if asked.heartbeat is not None:
        return asked.heartbeat
    ours = sum(row["speaks"] == CONNECT for row in tables.sessions)
    return OUR_HEARTBEAT_S if 2 * ours > len(tables.sessions) else JAVA_HEARTBEAT_S


def _fitted(fleet: Fleet, asked: Asked, heartbeat: float) -> Fitted:
    usual_ms = fleet.stopping.usual_ms
    stop = asked.stop if asked.stop is not None else DEFAULT_STOP_S if usual_ms is None else usual_ms / 1000
    slowest = max([stop, *(ms / 1000 for ms in fleet.stopping.connectors_ms.values())])
    return Fitted(
        delay=_first(asked.delay, fleet.delay_ms, DEFAULT_DELAY_S),
        session=_first(asked.session, fleet.session_ms, DEFAULT_SESSION_S),
        heartbeat=heartbeat,
        start=asked.start,
        stop=stop,
        rebalance=LONGEST_STOP_S + 2 * slowest * max([1.0, *fleet.stopping.workers.values()]),
    )


def _first(said: float | None, seen_ms: int | None, else_s: float) -> float:
    if said is not None:
        return said
    return else_s if seen_ms is None else float(round(seen_ms / 1000))


def _choices(kind: Kind, recorded: Choice | None, asked: Asked, tried: Sequence[float]) -> list[Choice]:
    kinds = asked.kinds or ([Kind.BARRIER, Kind.INDIVIDUAL] if kind is Kind.BARRIER else [kind])
    found = [] if recorded is None else [recorded]
    usual = [recorded.delay if recorded is not None else tried[0]]
    for each in kinds:
        policies = asked.policies or (OURS if each is Kind.CONNECT else (JAVA,))
        own = [recorded.policy] if recorded is not None and each is recorded.kind else []
        for policy in dict.fromkeys([*own, *policies]):
            found += [Choice(each, policy, delay) for delay in (usual if policy in NO_DELAY else tried)]
            for restart, rules in _ways(asked):
                if follows_rules(each) or not (rules or (restart is not None and restart.drained)):
                    waits = asked.delays and policy not in NO_DELAY
                    found += [Choice(each, policy, delay, restart, rules) for delay in (tried if waits else usual)]
    return list(dict.fromkeys(found))


def _ways(asked: Asked) -> list[tuple[Restart | None, str | None]]:
    """The ways that workers go and the placement rules to try, besides what really was."""
    rules = [None, *(each.name for each in asked.rules)]
    return [(restart, each) for restart in (None, *asked.restarts) for each in rules if restart or each]

"""The settings of connect groups: the server's values, and the values in force for one group.

The server has values for all groups. A group's own configuration (record 8) overrides some of them. A stored value that
is outside the server's current bounds is moved to the nearest bound, so that no group stops working for that. A session
has time for at least three heartbeats. `adjusted` lists the settings whose value in force is not the one that was set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import attrs

from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.interface import ServerAssignor
from kcoord.assign.placement import NO_RULES, Rules
from kcoord.assign.placement.document import DocumentError, read_setting
from kcoord.assign.uniform import UniformAssignor

SESSION_TIMEOUT = "connect.session.timeout.ms"
HEARTBEAT_INTERVAL = "connect.heartbeat.interval.ms"
REBALANCE_DELAY = "connect.rebalance.delay.ms"
MAX_SIZE = "connect.max.size"
ASSIGNORS = "connect.assignors"
MIGRATION_POLICY = "connect.migration.policy"
CLASSIC_MODE = "connect.classic.mode"
CLASSIC_WAIT = "connect.classic.heartbeat.wait.ms"
LEADER_WAIT = "connect.classic.leader.wait.ms"
PLACEMENT = "connect.placement"
FORMER_NAMES = {
    "connect.legacy.mode": CLASSIC_MODE,
    "connect.legacy.heartbeat.wait.ms": CLASSIC_WAIT,
    "connect.legacy.leader.wait.ms": LEADER_WAIT,
}
"""The names that settings had in release 0.1.0, and their names today. Clients may still give the former ones."""
STORED_NAMES = {name: former for former, name in FORMER_NAMES.items()}
"""The names that stand in the log in place of today's: instances of release 0.1.0 know no others."""
MAX_LEADER_WAIT_MS = 300_000

MODES_OWN_WAIT = -1
"""The value of a wait that stands for the default wait of the classic mode."""
MAX_CLASSIC_WAIT_MS = 30_000
"""The longest time that an answer is held: a Connect worker gives up a request after 40 s (`request.timeout.ms`)."""
_INDIVIDUAL_WAIT_MS = 10_000
"""The wait in individual mode. It is longer than the time between two heartbeats (Connect: 3 s), and the next heartbeat
ends the wait of the one before. So a worker can be called at any time. A third of the session is never exceeded.
"""

HEARTBEATS_IN_A_SESSION = 3
"""Heartbeats that a session has time for at least, whatever interval is set: a worker stops by itself a sixth before
the end of its session, and must have had time for a second try by then.
"""

Word = TypeVar("Word", bound=StrEnum)


class MigrationPolicy(StrEnum):
    """Which way a group may change its protocol."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"

    @property
    def upgrades(self) -> bool:
        """Whether a classic group may become a connect group."""
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)

    @property
    def downgrades(self) -> bool:
        """Whether a connect group may become a classic group."""
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


class ClassicMode(StrEnum):
    """How a group that has only classic members is managed."""

    BARRIER = "barrier"
    """As Kafka's classic group, with its barrier."""
    INDIVIDUAL = "individual"
    """As a connect group, one worker at a time."""


@attrs.frozen(slots=True)
class ConnectSettings:
    """Limits and times of connect groups. If Kafka has no default for one, the default is that of consumer groups."""

    session_timeout_ms: int = 45_000
    """`group.connect.session.timeout.ms`"""
    min_session_timeout_ms: int = 6_000
    """`group.connect.min.session.timeout.ms`"""
    max_session_timeout_ms: int = 60_000
    """`group.connect.max.session.timeout.ms`"""
    heartbeat_interval_ms: int = 5_000
    """`group.connect.heartbeat.interval.ms`"""
    min_heartbeat_interval_ms: int = 5_000
    """`group.connect.min.heartbeat.interval.ms`"""
    max_heartbeat_interval_ms: int = 15_000
    """`group.connect.max.heartbeat.interval.ms`"""
    max_size: int = 2**31 - 1
    """`group.connect.max.size`: members of one group."""
    rebalance_delay_ms: int = 300_000
    """`group.connect.rebalance.delay.ms`: how long the resources of a departed worker wait for it, as Connect's own
    `scheduled.rebalance.max.delay.ms`.
    """
    max_rebalance_delay_ms: int = 3_600_000
    """`group.connect.max.rebalance.delay.ms`: the longest delay that an install may set (CG-22)."""
    assignors: tuple[ServerAssignor, ...] = attrs.field(factory=lambda: (UniformAssignor(), CooperativeAssignor()))
    """`group.connect.assignors`: in the server's order. The first one is the default."""
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    """`group.connect.migration.policy`"""
    classic_mode: ClassicMode = ClassicMode.BARRIER
    """`group.connect.classic.mode`"""
    classic_wait_ms: int = MODES_OWN_WAIT
    """`group.connect.classic.heartbeat.wait.ms`: how long the answer to a classic member's heartbeat may be held."""
    leader_wait_ms: int = 15_000
    """`group.connect.classic.leader.wait.ms`: how long the lead waits for a classic leader after its orderly stop."""


@attrs.frozen(slots=True)
class Effective:
    """The values in force for one group."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_delay_ms: int
    has_own_delay: bool
    """The group sets `rebalance_delay_ms` itself."""
    max_size: int
    assignors: tuple[ServerAssignor, ...]
    placing: str
    """The assignor with which the coordinator places the work of classic members: the first one that the group names;
    if it names none, `cooperative`, which lets work wait for its worker as Connect does; else the server's first.
    """
    migration_policy: MigrationPolicy
    classic_mode: ClassicMode
    classic_wait_ms: int
    """How long the answer to a classic member's heartbeat may be held; 0: not at all."""
    leader_wait_ms: int
    """How long the lead waits for a classic leader after its orderly stop (CM-48)."""
    placement: Rules
    """The group's placement rules: where work may run (docs/placement.md)."""

    def assignor(self, name: str) -> ServerAssignor | None:
        """The server-side assignor of that name; None: the group does not have it."""
        return next((each for each in self.assignors if each.name == name), None)


def of_server(server: ConnectSettings) -> Effective:
    """The values in force for a group without a configuration of its own."""
    return overridden(server, {})


def overridden(server: ConnectSettings, own: Mapping[str, str]) -> Effective:
    """The values in force for a group with the configuration `own`. Its values were checked when they were set."""
    by_name = {each.name: each for each in server.assignors}
    named = [by_name[name] for name in own.get(ASSIGNORS, "").split(",") if name in by_name]
    mode = word(ClassicMode, own.get(CLASSIC_MODE), server.classic_mode)
    session_ms, interval_ms = within_bounds(server, own)
    return Effective(
        session_ms,
        min(interval_ms, max(1, session_ms // HEARTBEATS_IN_A_SESSION)),
        within(own.get(REBALANCE_DELAY), server.rebalance_delay_ms, 0, server.max_rebalance_delay_ms),
        REBALANCE_DELAY in own,
        within(own.get(MAX_SIZE), server.max_size, 1, server.max_size),
        tuple(named) or server.assignors,
        _placing(named, server.assignors),
        word(MigrationPolicy, own.get(MIGRATION_POLICY), server.migration_policy),
        mode,
        _wait(within(own.get(CLASSIC_WAIT), server.classic_wait_ms, MODES_OWN_WAIT, MAX_CLASSIC_WAIT_MS), mode),
        within(own.get(LEADER_WAIT), server.leader_wait_ms, 0, MAX_LEADER_WAIT_MS),
        _rules(own.get(PLACEMENT, "")),
    )


def _rules(document: str) -> Rules:
    """The rules in the group's setting. NO_RULES if another version of kcoord stored a document that this one cannot
    read.
    """
    try:
        return read_setting(document)
    except DocumentError:
        return NO_RULES


def _placing(named: Sequence[ServerAssignor], on: Sequence[ServerAssignor]) -> str:
    waits = [each.name for each in on if each.name == CooperativeAssignor.name]
    return named[0].name if named else (waits or [on[0].name])[0]


def within_bounds(server: ConnectSettings, own: Mapping[str, str]) -> tuple[int, int]:
    """The session timeout and the heartbeat interval, each within the server's bounds. The interval may be too long for
    the session.
    """
    return (
        within(
            own.get(SESSION_TIMEOUT),
            server.session_timeout_ms,
            server.min_session_timeout_ms,
            server.max_session_timeout_ms,
        ),
        within(
            own.get(HEARTBEAT_INTERVAL),
            server.heartbeat_interval_ms,
            server.min_heartbeat_interval_ms,
            server.max_heartbeat_interval_ms,
        ),
    )


def adjusted(server: ConnectSettings, own: Mapping[str, str]) -> dict[str, str]:
    """The values in force of the settings that were set to another value, by the name of the group's setting.

    The group's own values (`own`) were checked when they were set, but the server may have been started with other
    settings since.
    """
    effective = overridden(server, own)
    in_force = {
        SESSION_TIMEOUT: (server.session_timeout_ms, effective.session_timeout_ms),
        HEARTBEAT_INTERVAL: (server.heartbeat_interval_ms, effective.heartbeat_interval_ms),
        REBALANCE_DELAY: (server.rebalance_delay_ms, effective.rebalance_delay_ms),
        MAX_SIZE: (server.max_size, effective.max_size),
        ASSIGNORS: (_names(server.assignors), _names(effective.assignors)),
    }
    return {name: str(now) for name, (of_all, now) in in_force.items() if own.get(name, str(of_all)) != str(now)}


def misfits(server: ConnectSettings, own: Mapping[str, str]) -> dict[str, str]:
    """The entries of `adjusted` whose set value nobody could set now. A heartbeat interval that is shortened only to
    fit a short session is not one of them.
    """
    session_ms, interval_ms = within_bounds(server, own)
    found = adjusted(server, own)
    if interval_ms < session_ms and own.get(HEARTBEAT_INTERVAL, str(interval_ms)) == str(interval_ms):
        found.pop(HEARTBEAT_INTERVAL, None)
    return found


def _names(assignors: Sequence[ServerAssignor]) -> str:
    return ",".join(each.name for each in assignors)


def word(words: type[Word], own: str | None, otherwise: Word) -> Word:
    """The group's own word; `otherwise` if it has none, or one that only another version of kcoord knows."""
    return words(own) if own in tuple(words) else otherwise


def _wait(set_ms: int, mode: ClassicMode) -> int:
    if set_ms != MODES_OWN_WAIT:
        return set_ms
    return _INDIVIDUAL_WAIT_MS if mode is ClassicMode.INDIVIDUAL else 0


def within(own: str | None, otherwise: int, least: int, most: int) -> int:
    """The group's own number, moved to the nearest bound; `otherwise` if it has none."""
    return otherwise if own is None else min(max(int(own), least), most)

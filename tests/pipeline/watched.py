"""What is true of a fleet while it lives, to hold the tables against? Asked of the shard and of the workers themselves,
never of the records: who could be running what, who is a member, what nobody has, and what each process really runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import attrs

from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import Step
from kcoord.pipeline.history.entry import Row
from kcoord.resource import Resource
from tests.conversion.fleet import Fleet
from tests.pipeline.story import Written
from tests.sim.classic_worker.house import GROUP, WALL_MS

STOPS_MS = 10
"""So long it takes until a worker of a classic group has heard of what is revoked, and has stopped it."""

Shares = dict[str, frozenset[Resource]]


@attrs.frozen
class Truth:
    """A connect group after a step."""

    owned: Shares
    """What each member could be running."""
    unowned: frozenset[Resource] | None
    """What is configured, and nobody could be running; None: nobody has said what is configured."""


class Watched(Fleet):
    """A fleet that is written down."""

    def __init__(self, group_settings: GroupSettings | None = None) -> None:
        self.written: Written = []
        self.truths: dict[int, Truth | None] = {}
        """By unix ms: the last of it. None: the group is a generic one, or not there."""
        self.running: list[tuple[int, Shares]] = []
        """What processes ran then, by worker."""
        super().__init__(group_settings)
        self.checked = False

    @property
    def wall_ms(self) -> int:
        return WALL_MS + self.events.now_ms

    def take(self, step: Step) -> None:
        """Note what it wrote, and what is true behind it."""
        if step.records:
            self.written.append((self.wall_ms, list(step.records)))
        super().take(step)
        if step.records:
            self.truths[self.wall_ms] = self._truth()

    def judge(self) -> None:
        """Note who runs what."""
        super().judge()
        self.running.append((self.wall_ms, {host.name: host.runs for host in self.hosts if host.runs}))

    def _truth(self) -> Truth | None:
        group = self.shard.state.connect.get(GROUP)
        if group is None:
            return None
        owned = {member.member_id: member.current for member in group.members.values()}
        if group.configured is None:
            return Truth(owned, None)
        return Truth(owned, group.configured.resources - frozenset().union(*owned.values()))

    def compare(self, found: dict[str, list[Row]]) -> None:
        """The tables say the same, at each moment."""
        ownership, sessions, gaps = (found.get(each, []) for each in ("ownership", "sessions", "gaps"))
        for at_ms, truth in self.truths.items():
            if truth is None:
                continue
            assert shares(at_moment(ownership, at_ms), "member_id") == {
                member: owned for member, owned in truth.owned.items() if owned
            }, at_ms
            assert {row["member_id"] for row in at_moment(sessions, at_ms)} == set(truth.owned), at_ms
            if truth.unowned is not None:
                assert {(row["connector"], row["task"]) for row in at_moment(gaps, at_ms)} == truth.unowned, at_ms
        for at_ms, running in self.running:
            owned = shares(at_moment(ownership, at_ms, STOPS_MS), "url")
            for name, runs in running.items():
                assert runs <= owned.get(f"http://{name}", frozenset()), (at_ms, name)


def at_moment(rows: Iterable[Row], at_ms: int, ended_ms: int = 0) -> list[Row]:
    """What holds then, or has ended less than so long ago."""
    return [
        row for row in rows if row["from_at"] <= at_ms and (row["to_at"] is None or row["to_at"] > at_ms - ended_ms)
    ]


def shares(rows: Iterable[Row], by: str) -> Shares:
    found: defaultdict[str, set[Resource]] = defaultdict(set)
    for row in rows:
        found[row[by]].add(Resource(row["connector"], row["task"]))
    return {name: frozenset(resources) for name, resources in found.items()}

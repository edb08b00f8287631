"""A fleet of real workers behind two instances of kcoord, one of which goes: how it lives there, and what that costs.

The fleet's kinds differ in how kcoord manages the group, in Connect's `connect.protocol`, and in whether a worker of
ours is among Java's. What a test counts over all rounds it prints, for whoever reads its output (`pytest -rP`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import FindCoordinatorRequest, HeartbeatRequest
from tests.gateway.fleet import Fleet
from tests.gateway.live_member import LOST
from tests.gateway.scripted import ask, connect, coordinator_port, until
from tests.javafleet.conftest import BARRIER, DELAY, INDIVIDUAL
from tests.javafleet.figures import Figures
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.worker import JavaWorker
from tests.kafka.java import Java

WORKERS = ("w1", "w2", "w3")
OURS = "ours"
CONNECTORS, TASKS = 2, 4
HEARD_S = 15.0
"""Longer than clients take to hear of an instance that is back: their connections are closed 10 s after it has come."""
OUT_OF_PATIENCE = re.compile(r"coordinator was unreachable for \d+ms. Revoking previous assignment")
"""What a Java worker logs when it stops all that it runs: it has found no coordinator for a heartbeat interval."""


@attrs.frozen
class Kind:
    """One kind of fleet."""

    mode: str
    protocol: str = "sessioned"
    has_ours: bool = False
    settings: Mapping[str, object] = attrs.Factory(dict)
    """More of its Java workers'."""

    def begin(self, java: Java, folder: Path, bootstrap: str, group: str) -> JavaFleet:
        """The fleet's workers, which have connectors and have come to rest. Whoever has made it removes it."""
        fleet = JavaFleet(java, folder, bootstrap, group, {"connect.protocol": self.protocol, **self.settings})
        try:
            fleet.start(*WORKERS)
            for number in range(CONNECTORS):
                fleet.create(f"c{number}", TASKS)
            if self.has_ours:
                fleet.start_python(OURS)
            fleet.wait_until_quiet()
        except BaseException:
            fleet.remove()
            raise
        return fleet


PATIENT = {
    "session.timeout.ms": 40_000,
    "heartbeat.interval.ms": 10_000,
    "request.timeout.ms": 4_000,
    "socket.connection.setup.timeout.ms": 2_000,
    "socket.connection.setup.timeout.max.ms": 4_000,
}
"""Who looks for a coordinator asks a second and a third address before its patience ends (docs/absence.md)."""
KEPT_MS = 20_000
"""How long Connect's leader keeps the work of workers that are away; 5 min by default. All of them may be away: then
all work waits so long.
"""
KINDS = {
    "individual": Kind(INDIVIDUAL),
    "barrier": Kind(BARRIER, settings={DELAY: KEPT_MS}),
    "beside ours": Kind(INDIVIDUAL, has_ours=True),
    "compatible": Kind(INDIVIDUAL, "compatible", has_ours=True),
    "compatible by barrier": Kind(BARRIER, "compatible"),
    "eager": Kind(INDIVIDUAL, "eager", has_ours=True),
    "eager by barrier": Kind(BARRIER, "eager"),
}


async def front_of(kcoords: Fleet, by: int, group: str) -> int:
    """The number of the instance before the broker that coordinates the group, as instance `by` says."""
    client = await connect(kcoords.instances[by].bootstrap)

    async def found() -> list[int]:
        """Asked again by the same connection: after a change each gets COORDINATOR_NOT_AVAILABLE once."""
        told = await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        [named] = told.coordinators
        return [] if named.error_code != ErrorCode.NONE else [kcoords.at(named.port)[0]]

    [number] = await until(found, f"instance {by} names the coordinator of {group}")
    await client.close()
    return int(number)


async def until_other(kcoords: Fleet, gone: int, *groups: str) -> None:
    """Until the instance that is left names itself for the groups."""

    async def named() -> bool:
        return {await front_of(kcoords, 1 - gone, group) for group in groups} == {1 - gone}

    await until(named, f"the other has {groups}")


async def until_answered(kcoords: Fleet, by: int, group: str) -> None:
    """Until instance `by` answers for the group: it says that somebody whom nobody knows is no member of it."""
    stranger = HeartbeatRequest(group_id=group, generation_id=1, member_id="nobody")

    async def answered() -> bool:
        client = await connect(await coordinator_port(kcoords.instances[by].bootstrap, group))
        try:
            error = ErrorCode((await ask(client, stranger)).error_code)
        except LOST:  # it closes what leads to it while somebody else has the group
            return False
        finally:
            await client.close()
        return error == ErrorCode.UNKNOWN_MEMBER_ID

    await until(answered, f"instance {by} answers for {group}")


# -- what it costs -----------------------------------------------------------------------------------------------------


@attrs.define
class Costs:
    """What all rounds of one test have cost so far."""

    name: str
    rounds: int = 0
    stopped: int = 0
    """Tasks, each time that they were stopped."""
    joins: int = 0
    twice: int = 0
    """What ran on two workers at one time."""
    nowhere_ms: int = 0
    unanswered_s: float = 0.0
    """The longest time until the other instance answered for the group, where that is measured."""
    by_round: list[str] = attrs.Factory(list)

    def add(self, figures: Figures, out_of_patience: Collection[str] = (), unanswered_s: float | None = None) -> None:
        """One round more, the workers that stopped everything in it because they found no coordinator, and for how long
        no instance answered for the group.
        """
        joins = sum(figures.joins.values())
        self.rounds += 1
        self.stopped += len(figures.stopped)
        self.joins += joins
        self.twice += len(figures.twice)
        self.nowhere_ms = max(self.nowhere_ms, figures.nowhere_ms)
        workers = dict(Counter(run.worker for run in figures.stopped))
        reason = f", out of patience: {sorted(out_of_patience)}" if out_of_patience else ""
        self.unanswered_s = max(self.unanswered_s, unanswered_s or 0.0)
        answered = "" if unanswered_s is None else f", answered after {unanswered_s:.1f} s"
        self.by_round.append(f"stopped {workers}, joins {joins}, nowhere {figures.nowhere_ms} ms{answered}{reason}")

    def tell(self) -> None:
        """Print them."""
        answered = f", the other instance answered after {self.unanswered_s:.1f} s at most" if self.unanswered_s else ""
        print(
            f"{self.name}: {self.rounds} rounds, {self.stopped} tasks stopped, {self.joins} joins, {self.twice} ran "
            f"twice, a task ran nowhere for {self.nowhere_ms} ms at most{answered}"
        )
        for number, each in enumerate(self.by_round):
            print(f"  {number}: {each}")


def check_nothing_happened(figures: Figures) -> None:
    """No task was stopped, nobody joined again, nothing ran twice."""
    assert not figures.stopped, f"tasks stopped: {figures.stopped}"
    assert not any(figures.joins.values()), f"workers joined: {figures.joins}"
    assert not figures.twice


@attrs.frozen
class Patience:
    """How often each Java worker had stopped all that it ran for want of a coordinator, when this was made."""

    fleet: JavaFleet
    before: Counter[str] = attrs.field(init=False)

    @before.default
    def _count(self) -> Counter[str]:
        java = [each for each in self.fleet.workers.values() if isinstance(each, JavaWorker)]
        return Counter({each.name: len(OUT_OF_PATIENCE.findall(each.log.read_text(errors="replace"))) for each in java})

    def lost_by(self) -> set[str]:
        """The workers that have done so since."""
        return set(self._count() - self.before)

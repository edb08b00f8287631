"""A fleet of real Connect workers, two instances of kcoord before its cluster, and the owner's host says nothing more.

Nobody refuses a connection and nobody is told: the other instance has the groups when the owner's session is over. By
then a worker may have stopped all that it runs, since Connect does so when it has looked for its coordinator for one
heartbeat interval and nobody has answered. Where no worker does that, no task stops and nobody joins again; where one
does, others may be given its work and give it back. Nothing ever runs twice, neither then nor when the owner is back
and believes that it has the groups. The other instance answers for the group within the session of the instances and
the owner's lease, and some seconds for a loaded machine. A proof.

In mode `barrier` one case is Connect's own: a worker whose rebalance takes too long leaves the group while its tasks
run, and then they may run twice, as with Kafka's coordinator.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import attrs
import pytest

from tests.cli.run_cli import kcoord
from tests.faults.silent_host import Host, two_hosts
from tests.gateway.fleet import Fleet, fleet_name, started
from tests.javafleet.conftest import BARRIER, INDIVIDUAL
from tests.javafleet.figures import Watch
from tests.javafleet.fleet import JavaFleet
from tests.javafleet.instance_pair import (
    HEARD_S,
    KINDS,
    PATIENT,
    Costs,
    Kind,
    Patience,
    check_nothing_happened,
    front_of,
    until_answered,
    until_other,
)
from tests.javafleet.notes import overlaps
from tests.kafka.cluster import KafkaCluster
from tests.kafka.java import Java

BOTH = (0, 1)
FROZEN, CUT = "frozen", "cut off"
LEASE_MS = 5_000
"""As by default; so is the session of the instances, 6 s."""
LOADED_S = 8.0
"""What a loaded machine may need beside that."""
GONE_S = 25.0
"""Longer than a worker waits for an answer before it looks for its coordinator (its session, 10 s), and is patient."""
ROUNDS = 4
PATIENT_ROUNDS = 2
HELD = {"group_connect_classic_heartbeat_wait_ms": 2_000}
"""Less than the patient workers' `request.timeout.ms`: otherwise they would hang up on each heartbeat that is held."""
CELLS = [(how, kind) for how in (FROZEN, CUT) for kind in ("individual", "barrier", "compatible", "eager")]


LEFT_BUSY = "consumer pro-actively leaving the group"
"""A worker's log, when its herder has not come back from a rebalance within the rebalance timeout."""
PATIENT_GONE_S = 70.0
"""The same of the patient workers."""


@attrs.frozen
class Scene:
    """The instances on hosts of their own, and the fleet."""

    hosts: list[Host]
    kcoords: Fleet
    workers: JavaFleet
    mode: str

    @property
    def may_run_twice(self) -> bool:
        """Whether some worker has left the group while its tasks ran, and nothing is kept for it."""
        logs = [each.log.read_text(errors="replace") for each in self.workers.workers.values()]
        return self.mode == BARRIER and any(LEFT_BUSY in each for each in logs)

    @property
    def taken_over_within_s(self) -> float:
        """Until the other instance answers for the group: the owner is found to be gone, and its lease is over."""
        settings = self.hosts[0].kcoord.settings
        detection_ms, lease_ms = (
            int(str(settings[name])) for name in ("instances.session.timeout.ms", "coordinator.lease.ms")
        )
        return (detection_ms + lease_ms) / 1000 + LOADED_S

    async def silence_the_owner(self, how: str, costs: Costs, gone_s: float = GONE_S) -> None:
        """It is gone until everything has come to rest without it, and comes back."""
        await asyncio.sleep(HEARD_S)
        owner = await front_of(self.kcoords, 0, self.workers.group)
        watch, patience = Watch(self.workers), Patience(self.workers)
        host = self.hosts[owner]
        began = time.monotonic()
        if how == FROZEN:
            host.kcoord.process.freeze()
        else:
            host.pull_out()
        await until_other(self.kcoords, owner, self.workers.group)
        await until_answered(self.kcoords, 1 - owner, self.workers.group)
        unanswered_s = time.monotonic() - began
        await asyncio.sleep(gone_s)
        await asyncio.to_thread(self.workers.wait_until_quiet)
        if how == FROZEN:
            host.kcoord.process.thaw()
        else:
            await host.plug_in()
        await self.kcoords.settled(*BOTH)
        await asyncio.to_thread(self.workers.wait_until_quiet)
        owners = {await front_of(self.kcoords, by, self.workers.group) for by in BOTH}
        assert len(owners) == 1, f"both say that they have the group: {owners}"
        figures = watch.figures()
        costs.add(figures, patience.lost_by(), unanswered_s)
        assert unanswered_s <= self.taken_over_within_s
        assert self.may_run_twice or not figures.twice
        if not patience.lost_by():
            check_nothing_happened(figures)


@asynccontextmanager
async def scene(kind: Kind, kafka: KafkaCluster, java: Java, folder: Path, **more: object) -> AsyncIterator[Scene]:
    """All at rest, `more` settings of kcoord; in the end nothing has run twice, and the log holds together."""
    settings = {"group_connect_classic_mode": kind.mode, "coordinator_lease_ms": LEASE_MS, **more}
    async with AsyncExitStack() as stack:
        hosts = await stack.enter_async_context(two_hosts(kafka, folder, fleet_name(folder), **settings))
        started_here = started(kafka, [host.kcoord for host in hosts])
        kcoords = await asyncio.to_thread(stack.enter_context, started_here)  # their ways are in this thread
        await kcoords.settled(*BOTH)
        group = f"silence-{folder.name}"
        workers = await asyncio.to_thread(kind.begin, java, folder / "fleet", kcoords.bootstrap, group)
        stack.callback(workers.remove)
        workers.states_count = False  # what a worker wrote on its way through the host arrives when that is back
        here = Scene(hosts, kcoords, workers, kind.mode)
        yield here
        assert here.may_run_twice or overlaps(workers.notes.runs()) == []
        topic = str(hosts[0].kcoord.settings["log.topic"])
        log = ["--log-bootstrap", kafka.bootstrap, "--topic", topic]
        verified = await asyncio.to_thread(kcoord, "log", "verify", *log)
        assert verified.code == 0, verified


@pytest.mark.proof
@pytest.mark.parametrize(("how", "kind"), CELLS)
async def test_the_owners_host_is_gone_without_a_word(
    how: str, kind: str, three_brokers: KafkaCluster, java: Java, tmp_path: Path
) -> None:
    costs = Costs(f"{how}, {kind}")
    try:
        async with scene(KINDS[kind], three_brokers, java, tmp_path) as here:
            for _ in range(ROUNDS):
                await here.silence_the_owner(how, costs)
    finally:
        costs.tell()


@pytest.mark.proof
@pytest.mark.parametrize("how", [FROZEN, CUT])
async def test_patient_workers_stop_nothing(how: str, three_brokers: KafkaCluster, java: Java, tmp_path: Path) -> None:
    """Their settings are those of docs/absence.md."""
    costs = Costs(f"{how}, patient")
    try:
        async with scene(Kind(INDIVIDUAL, settings=PATIENT), three_brokers, java, tmp_path, **HELD) as here:
            for _ in range(PATIENT_ROUNDS):
                await here.silence_the_owner(how, costs, PATIENT_GONE_S)
            assert (costs.stopped, costs.joins) == (0, 0)
    finally:
        costs.tell()


@pytest.fixture(scope="module")
def three_brokers(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """Clients of several brokers know the addresses of several instances."""
    return start_kafka(3)

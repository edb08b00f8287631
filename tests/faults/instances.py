"""How do several instances of kcoord run over one topic in a test, each to be broken by itself?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from random import Random

import attrs

from kcoord.client.errors import ClientError
from tests.cli.run_cli import kcoord as run
from tests.faults.caller import Address, Caller, Lost
from tests.faults.history import History
from tests.faults.length import LONG, SEED
from tests.faults.log_contents import read_log
from tests.faults.stage import GROUPS, Stage, stage
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port
from tests.kafka.wait import DEADLINE_S
from tests.repository import ROOT

INSTANCES_SESSION_MS = 4_000
LEASE_MS = 2_000
PARTITIONS = 6
SETTINGS: dict[str, object] = {
    **GROUPS,
    "log": "kafka",
    "offsets.topic.num.partitions": PARTITIONS,
    "instances.session.timeout.ms": INSTANCES_SESSION_MS,
    "coordinator.lease.ms": LEASE_MS,
    "internal.secret": "the instances of a test",
}
_names = count(1)


@attrs.define(eq=False)
class Instances:
    """Some kcoords over one topic."""

    topic: str
    group: str
    kcoords: list[Kcoord]
    history: History = attrs.Factory(History)

    @property
    def bootstrap(self) -> list[Address]:
        """Where clients begin: any of them."""
        return [("127.0.0.1", kcoord.port) for kcoord in self.kcoords]

    async def owner(self, group: str) -> Kcoord:
        """Who coordinates the group, as FindCoordinator says. Raises AssertionError when nobody is named for long."""
        port = await self.owner_port(group)
        [owner] = [kcoord for kcoord in self.kcoords if kcoord.port == port]
        return owner

    async def owner_port(self, group: str) -> int:
        """The same, as the port."""
        caller = Caller(self.bootstrap, History(), group, "who", Random(0))
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + DEADLINE_S
        while True:
            try:
                return (await caller.find())[1]
            except (Lost, ClientError) as lost:
                if loop.time() > deadline_s:
                    raise AssertionError(f"nobody coordinates {group}: {lost}") from None
                await asyncio.sleep(0.1)

    async def start(self, *kcoords: Kcoord) -> None:
        """Start these at the same time, and wait until they answer."""
        await asyncio.gather(*(asyncio.to_thread(kcoord.start) for kcoord in kcoords))

    async def read(self, kafka: KafkaCluster, on: Stage) -> None:
        """Read the log when all has settled, with other people's means and with kcoord's own."""
        records = await asyncio.to_thread(read_log, kafka, self.topic, on.load, on.history)
        print(f"{records} records in {self.topic}")
        arguments = ["--log-bootstrap", kafka.bootstrap, "--topic", self.topic]
        verified = await asyncio.to_thread(run, "log", "verify", *arguments)
        assert verified.code == 0, verified

    async def reload(self, on: Stage) -> None:
        """Kill all instances, so that everything is loaded once more."""
        on.history.note("all are killed")
        for kcoord in self.kcoords:
            kcoord.kill()
        await self.start(*self.kcoords)

    def remove(self) -> None:
        """Make sure that all are gone."""
        for kcoord in self.kcoords:
            if kcoord._process is not None:
                kcoord.process.thaw()
            kcoord.remove()


@asynccontextmanager
async def instances(
    kafka: KafkaCluster,
    folder: Path,
    number: int = 2,
    *,
    by: Callable[[int], str] | None = None,
    settings: Mapping[str, object] | None = None,
    own: Callable[[int], Mapping[str, object]] | None = None,
    upstream: bool = False,
    site: Path = ROOT,
) -> AsyncIterator[Instances]:
    """So many instances, started, over a topic of their own. `by` says by which bootstrap address each finds Kafka,
    `own` which settings it has besides; `site` has the package that they run at first.
    """
    name = f"faults-{next(_names)}-{folder.name}"
    kcoords = [
        make_instance(kafka, folder, instance, name, by=by, settings=settings, own=own, upstream=upstream)
        for instance in range(number)
    ]
    for kcoord in kcoords:
        kcoord.site = site
    topic = str(kcoords[0].settings["log.topic"])
    self = Instances(topic, f"instances-{name}", kcoords)
    try:
        await self.start(*kcoords)
        yield self
    finally:
        self.remove()


@asynccontextmanager
async def loaded(
    kafka: KafkaCluster,
    folder: Path,
    number: int = 2,
    *,
    by: Callable[[int], str] | None = None,
    settings: Mapping[str, object] | None = None,
    own: Callable[[int], Mapping[str, object]] | None = None,
    reload: bool = LONG,
    site: Path = ROOT,
) -> AsyncIterator[tuple[Instances, Stage]]:
    """The same under load; in the end the log is read, and with `reload` everything is loaded from it once more."""
    async with instances(kafka, folder, number, by=by, settings=settings, own=own, site=site) as all_:

        async def again(on: Stage) -> None:
            await all_.read(kafka, on)
            if reload:
                await all_.reload(on)

        async with stage(all_.bootstrap, folder, SEED, again=again) as on:
            yield all_, on


def make_instance(
    kafka: KafkaCluster,
    folder: Path,
    instance: int,
    name: str,
    *,
    by: Callable[[int], str] | None = None,
    settings: Mapping[str, object] | None = None,
    own: Callable[[int], Mapping[str, object]] | None = None,
    upstream: bool = False,
) -> Kcoord:
    """One of them, not started."""
    bootstrap = kafka.bootstrap if by is None else by(instance)
    given = {
        **SETTINGS,
        "log.bootstrap": bootstrap,
        "log.topic": f"topic-{name}",
        "instances.group": f"instances-{name}",
        "instance.id": instance,
        "internal.listen": f"127.0.0.1:{free_port()}",
        **(settings or {}),
        **(own(instance) if own else {}),
    }
    here = folder / f"kcoord-{instance}-{next(_names)}"
    here.mkdir(parents=True)
    return Kcoord(here, bootstrap if upstream else None, (".*",) if upstream else (), given)


def tails(kcoords: Sequence[Kcoord]) -> str:
    """The ends of what they printed, for whoever reads a failure."""
    return "\n\n".join(f"{kcoord.folder.name}:\n{kcoord.process.tail(1500)}" for kcoord in kcoords)

"""Several instances of kcoord as the gateway before one cluster, each a process as users run it."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import MetadataRequest
from tests.gateway.scripted import ScriptedMember, ask, connect, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.ports import free_port

PARTITIONS = 5
"""As many as `__consumer_offsets` has in the tests' clusters: so groups are where their clients come by."""
QUICK: dict[str, object] = {
    "log": "kafka",
    "offsets.topic.num.partitions": PARTITIONS,
    "instances.session.timeout.ms": 6_000,
    "coordinator.lease.ms": 2_000,
    "internal.secret": "a secret of the tests",
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "group.connect.rebalance.delay.ms": 0,
    "gateway.sentinel.grace.ms": 200,
}
_names = itertools.count(1)


@attrs.define(eq=False)
class Fleet:
    """The instances, by their numbers."""

    kafka: KafkaCluster
    instances: list[Kcoord]

    @property
    def bootstrap(self) -> str:
        """What clients are given: all of them."""
        return ",".join(each.bootstrap for each in self.instances)

    def at(self, address: int) -> tuple[int, int]:
        """Which instance has this port, and for which broker."""
        for number, each in enumerate(self.instances):
            broker = address - each.port - 1
            if broker in self.kafka.ports:
                return number, broker
        raise AssertionError(f"port {address} is nobody's")

    async def map(self, by: Kcoord | int) -> dict[int, int]:
        """Who stands before which broker, as Metadata says at this instance or port."""
        client = await connect(by if isinstance(by, int) else by.bootstrap)
        told = await ask(client, MetadataRequest(topics=[]))
        await client.close()
        found = {each.node_id: self.at(each.port) for each in told.brokers}
        assert all(found[broker][1] == broker for broker in found)
        return {broker: number for broker, (number, _) in found.items()}

    async def settled(self, *there: int) -> dict[int, int]:
        """The map, once the instances that are there tell the same, and that each of them has a place."""

        async def same() -> dict[int, int] | None:
            try:
                told = [await self.map(self.instances[number]) for number in there]
            except OSError:
                return None
            complete = set(told[0].values()) == set(there) and told[0].keys() == self.kafka.ports.keys()
            return told[0] if complete and all(each == told[0] for each in told) else None

        found: dict[int, int] = await until(same, f"instances {there} tell the same map, and all brokers")
        return found

    def other(self, number: int) -> Kcoord:
        """Any instance but this one."""
        return next(each for at, each in enumerate(self.instances) if at != number)

    def relayed(self) -> Counter[str]:
        """What instances that have been stopped in good order asked of each other."""
        found: Counter[str] = Counter()
        for each in self.instances:
            for line in re.findall(r"calls that went to other instances: (.*)", each.log.read_text()):
                for count, name in re.findall(r"(\d+) (\w+)", line):
                    found[name] += int(count)
        return found

    async def stop(self) -> None:
        """End all of them in good order."""
        await asyncio.gather(*(asyncio.to_thread(each.stop) for each in self.instances))


@contextmanager
def fleet(kafka: KafkaCluster, folder: Path, number: int = 2, **settings: object) -> Iterator[Fleet]:
    """So many instances before `kafka` that share a log of their own there."""
    name = fleet_name(folder)
    instances = [make_instance(kafka, folder, name, instance, **settings) for instance in range(number)]
    with started(kafka, instances) as running:
        yield running


def fleet_name(folder: Path) -> str:
    """A name for instances that share, which no others have."""
    return f"{next(_names)}-{folder.name}"


def make_instance(kafka: KafkaCluster, folder: Path, name: str, instance: int, **settings: object) -> Kcoord:
    """The instance of this number, not started, of those that share under `name`."""
    own = folder / f"instance-{instance}"
    own.mkdir()
    named: dict[str, object] = {
        **QUICK,
        "instance.id": instance,
        "log.topic": f"offsets-{name}",
        "instances.group": f"instances-{name}",
        "internal.listen": f"127.0.0.1:{free_port()}",
        **{setting.replace("_", "."): value for setting, value in settings.items()},
    }
    return Kcoord(own, kafka.bootstrap, (r"(?!instances-).*",), named)


@contextmanager
def started(kafka: KafkaCluster, instances: list[Kcoord]) -> Iterator[Fleet]:
    """These instances, running until the end of the block."""
    try:
        for each in instances:
            each.start(wait=False)
        for each in instances:
            each.wait_until_it_answers()
        yield Fleet(kafka, instances)
    finally:
        for each in instances:
            each.remove()


StartFleet = Callable[..., Fleet]


async def both_join(first: ScriptedMember, second: ScriptedMember) -> None:
    """Both are members of a stable group."""
    await first.join_and_sync()
    joining = asyncio.create_task(second.join())

    async def told() -> bool:
        return await first.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS

    await until(told, "the first is told of the second")
    await asyncio.gather(joining, first.join())
    leader, follower = (first, second) if first.leads else (second, first)
    syncing = asyncio.create_task(follower.sync({}))
    assert (await leader.sync({first.member_id: b"one", second.member_id: b"two"})).error_code == ErrorCode.NONE
    assert (await syncing).assignment == (b"one" if follower is first else b"two")

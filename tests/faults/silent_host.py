"""The host of one instance of kcoord, whose network can be pulled out: everything to it and from it stops, silently.

Clients and other instances come by a `Wire` before each of its ports, it goes to Kafka by a proxy of its own. Its
process goes on, and does not know.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import attrs

from tests.faults.proxy import KafkaProxy
from tests.faults.wire import Wire
from tests.gateway.fleet import make_instance
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import HIGHEST_NODE_ID, Kcoord
from tests.kafka.ports import free_port, port_block

PORTS = 2 + HIGHEST_NODE_ID


@attrs.frozen(eq=False)
class Host:
    """One instance, not started by this, and the ways to it and from it."""

    kcoord: Kcoord
    wires: list[Wire]
    to_kafka: KafkaProxy

    def pull_out(self) -> None:
        """Nothing comes or goes any more, and nobody is told."""
        for wire in self.wires:
            wire.die()
        self.to_kafka.silence()

    async def plug_in(self) -> None:
        """The network is back; what was on its way arrives."""
        self.to_kafka.mend()
        for wire in self.wires:
            await wire.mend()


@asynccontextmanager
async def two_hosts(kafka: KafkaCluster, folder: Path, name: str, **settings: object) -> AsyncIterator[list[Host]]:
    """Two hosts, each with an instance of those that share under `name`, until the end of the block.

    What one instance asks of the other goes by the other's wire, and is cut with either host.
    """
    async with AsyncExitStack() as stack:
        internal = [await stack.enter_async_context(Wire.opened(free_port())) for _ in range(2)]
        hosts = []
        for number in range(2):
            listens, port = port_block(PORTS), port_block(PORTS)
            offsets = [0, *(1 + broker for broker in kafka.ports)]
            wires = [
                await stack.enter_async_context(Wire.opened(listens + offset, port + offset)) for offset in offsets
            ]
            to_kafka = await stack.enter_async_context(KafkaProxy.opened(kafka.ports))
            ways = {
                "internal_listen": f"127.0.0.1:{internal[number].to}",
                "internal_advertise": internal[number].address,
            }
            kcoord = make_instance(kafka, folder, name, number, **{**ways, **settings})
            kcoord.upstream, kcoord.port, kcoord.listens = to_kafka.bootstrap, port, listens
            hosts.append(Host(kcoord, [*wires, *internal], to_kafka))
        yield hosts

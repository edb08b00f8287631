"""The kcoord of a run: the server, gateway and coordinator of a real kcoord, between the clients and the cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kcoord.gateway.gateway import Gateway
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.state.settings import GroupSettings
from kcoord.log.interface import RawRecord
from kcoord.server.server import Server
from kcoord.sim.adoption.cluster import BROKER, LIMITS, Node
from kcoord.sim.adoption.wires import Address

HOST, PORT = "kcoord", 19_092
FRONT: Address = (HOST, PORT)


class Front(Node):
    """The process."""

    name = HOST
    gateway: Gateway
    on_append: Callable[[Sequence[RawRecord]], None]
    """Called with each append that begins. Set by the faults."""

    def _settings(self) -> GroupSettings:
        return GroupSettings(initial_rebalance_delay_ms=self._context.plan.initial_delay_ms)

    def _serve(self) -> Server:
        settings = GatewaySettings(
            bootstrap=(BROKER,),
            groups=(".*",),
            listen_port=PORT,
            data_dir=Path("kcoord"),
            adopts=self._context.plan.adopts,
            security_protocol="SASL_PLAINTEXT" if self._context.plan.uses_sasl else "PLAINTEXT",
        )
        self.gateway = Gateway(settings, self.coordinator)
        server = Server(LIMITS, self.gateway, None, self._serials, self.coordinator.closed)
        self._listen(server, FRONT)
        self.log.on_append = self.on_append
        self._server = server
        return server

    async def _start(self) -> None:
        await super()._start()

        async def open_port(broker_id: int, port: int) -> None:
            self._listen(self._server, (HOST, port), broker_id)

        await self.gateway.start(open_port)

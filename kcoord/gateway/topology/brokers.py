"""The broker map: which upstream broker is behind which port, and where each broker was last seen.

Rules (GW-1 to GW-3):

1. kcoord keeps the map in its data directory, and opens the ports of the map at start, before upstream has answered.
   Clients keep cached metadata, and with SASL kcoord has no credentials with which it could ask upstream.
2. kcoord learns the map from the answers that pass. It opens the port of each broker that an answer names before the
   client gets that answer.
3. A broker that is gone stays in the map. It may come back, and no other broker may get its port.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from kcoord.gateway.settings import Address, GatewaySettings

log = logging.getLogger("kcoord.gateway")

FILE = "brokers.json"
FORMAT = 1

OpenPort = Callable[[int, int], Awaitable[None]]
"""Makes the server listen for a broker: (broker id, port). Raises if the server cannot."""


class BrokerMap:
    """Upstream's brokers by node id, kept in the data directory. Raises ValueError if the kept map is damaged."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._path = settings.data_dir / FILE
        self._addresses = _read(self._path)
        self._open: set[int] = set()
        self._open_port: OpenPort | None = None
        self._learning = asyncio.Lock()

    async def start(self, open_port: OpenPort) -> None:
        """Open the ports of the known brokers. Raises what `open_port` raises if a port is taken."""
        self._open_port = open_port
        for broker_id in sorted(self._addresses):
            port = self._settings.port_of(broker_id)
            if port is not None:
                await open_port(broker_id, port)
                self._open.add(broker_id)

    def address(self, broker_id: int) -> Address | None:
        """Where that broker was last seen; None if it was never seen."""
        return self._addresses.get(broker_id)

    @property
    def ids(self) -> list[int]:
        """All brokers that kcoord has ever seen."""
        return list(self._addresses)

    def addresses(self) -> list[Address]:
        """Where to connect if any broker will do: first the configured addresses, then the known ones."""
        return list(dict.fromkeys([*self._settings.bootstrap, *self._addresses.values()]))

    def is_new(self, broker_id: int, address: Address) -> bool:
        """Whether `learn` has something to do for this broker."""
        return self._addresses.get(broker_id) != address or broker_id not in self._open

    def has_port(self, broker_id: int) -> bool:
        """Whether that broker is known and its port is open here."""
        return broker_id in self._addresses and broker_id in self._open

    async def learn(self, seen: Mapping[int, Address]) -> None:
        """Remember where these brokers are, and open the ports that are not open yet."""
        async with self._learning:
            changed = {id_: address for id_, address in seen.items() if self._addresses.get(id_) != address}
            for broker_id, address in changed.items():
                before = self._addresses.get(broker_id)
                moved = f", before at {before[0]}:{before[1]}" if before else ""
                log.info("upstream broker %d is at %s:%d%s", broker_id, *address, moved)
            if changed:
                self._addresses.update(changed)
                _write(self._path, self._addresses)
            for broker_id in seen:
                await self._listen_for(broker_id)

    async def _listen_for(self, broker_id: int) -> None:
        if broker_id in self._open or self._open_port is None:
            return
        port = self._settings.port_of(broker_id)
        if port is None:
            log.error("there is no port for upstream broker %d: give it one with gateway.broker.ports", broker_id)
            return
        try:
            await self._open_port(broker_id, port)
            self._open.add(broker_id)
        except Exception as error:  # any error: the client must get its answer all the same
            log.error(
                "cannot listen on port %d for upstream broker %d (%s): its clients must wait until the port is free",
                port,
                broker_id,
                error,
            )


def _read(path: Path) -> dict[int, Address]:
    try:
        text = path.read_text()
    except FileNotFoundError:
        return {}
    try:
        kept = json.loads(text)
        if kept["format"] != FORMAT:
            raise ValueError(f"its format is {kept['format']}")
        return {int(broker_id): (str(host), int(port)) for broker_id, (host, port) in kept["brokers"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} cannot be read as a broker map ({error}): delete it, and it is learnt anew from upstream"
        ) from None


def _write(path: Path, addresses: dict[int, Address]) -> None:
    """Replace the file as a whole, so that after a crash the old file or the new one is there."""
    text = json.dumps({"format": FORMAT, "brokers": {str(id_): list(at) for id_, at in sorted(addresses.items())}})
    beside = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)  # a log in a topic does not make the data directory
        with beside.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        log.error(
            "cannot keep the broker map in %s: %s; after a restart its ports open when clients ask again", path, error
        )

"""The coordinator of a test: kcoord's own server, shards and handlers over a log in memory, as a process under test."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone import Standalone
from kcoord.server.standalone_nodes import OneNode
from kcoord.server.startup.components import given_names, group_settings, make_server
from kcoord.server.startup.configured_request_limits import request_limits
from kcoord.settings_sources import Settings, SettingsError, load_settings
from kcoord.testing.errors import TestingError
from kcoord.testing.loopback_network import LOOPBACK
from kcoord.testing.memory_log import MemoryLog
from kcoord.testing.substitutes import seeded_ids

CLUSTER_ID = "kcoord-testing"


def settings_of(given: Mapping[str, object]) -> Settings:
    """Settings given by name, as in a configuration file. Raises TestingError."""
    options = [f"{name}={value}" for name, value in given.items()]
    try:
        settings = load_settings(options, environment={})
    except SettingsError as error:
        raise TestingError(f"settings of the coordinator: {error}") from None
    if settings.upstream or settings.log != "embedded":
        raise TestingError("the coordinator of a test runs alone: leave out `upstream` and `log`")
    return settings


class TestedCoordinator:
    """A coordinator that can be stopped and started again, on the same port and with the same log."""

    __test__ = False

    def __init__(self, settings: Settings, seed: int) -> None:
        self.port = 0
        self._settings = settings
        self._log = MemoryLog(settings.offsets_topic_num_partitions)
        self._ids = seeded_ids(seed)
        self._running: contextlib.AsyncExitStack | None = None

    async def start(self) -> None:
        """Load all groups from the log and open the port. Raises TestingError."""
        settings = self._settings
        async with contextlib.AsyncExitStack() as stack:
            await self._log.open()
            stack.push_async_callback(self._log.close)
            coordinator = Coordinator(
                self._log,
                group_settings(settings),
                settings.offsets_topic_num_partitions,
                lambda: next(self._ids),
                given_names(settings),
            )
            node = OneNode(CLUSTER_ID, None)
            limits = request_limits(settings)
            alone = Standalone(coordinator, node, connect_groups=settings.group_connect_enable, limits=limits)
            server = make_server(settings, alone, coordinator, stack)
            stack.push_async_callback(server.close_listeners)
            await coordinator.load()
            self.port = await server.listen(LOOPBACK, self.port)
            self._running = stack.pop_all()

    async def stop(self) -> None:
        """Stop as on SIGTERM: answer what is being committed, then end all connections."""
        if self._running is not None:
            await self._running.aclose()
            self._running = None

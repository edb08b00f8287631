"""The start, run and stop of a kcoord process.

A start locks and opens the log, loads the groups, then opens the ports. The ports open after `HEAD_START_S` in any
case and answer while groups load, because a client that reaches nobody for one heartbeat interval gives up its work.
A stop (SIGTERM or SIGINT, also during a start) closes the ports, answers the requests whose commits are under way,
closes the connections, then closes the log.

An instance that shares its log with others starts and stops in another order (`shared_log_start.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kcoord.log.embedded import EmbeddedLog
from kcoord.server.server import Behind
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone_nodes import OneNode
from kcoord.server.standalone_start import stand_alone
from kcoord.server.startup.components import (
    StartError,
    connect_settings,
    group_settings,
    look_at_upstream,
    make_coordinator,
    make_gateway,
    make_server,
    open_ports,
    take_handed_down,
    tls,
)
from kcoord.server.startup.listen_fds import HandedDown
from kcoord.server.startup.private_files import keep_new_files_private, warn_of_readable_files
from kcoord.settings_sources import Settings

if TYPE_CHECKING:
    from kcoord.gateway.gateway import Gateway

__all__ = ["StartError", "connect_settings", "run", "tls"]

log = logging.getLogger("kcoord.server")

CLUSTER_ID_FILE = "cluster.id"
OPEN_FILES = 1 << 20
"""Limit of open files that kcoord asks the system for. A connection needs one file, with a gateway two."""
HEAD_START_S = 1.0
"""How long the ports stay closed while groups load. Most logs are loaded by then, so no client must retry."""
GARBAGE_THRESHOLD = 50_000
"""Container objects that Python allocates before it searches them for reference cycles. Groups and connections live
long and make almost no cycles. With Python's default of 700, the search took a seventh of the CPU while members joined.
"""


def run(settings: Settings, on_ready: Callable[[], None] = lambda: None) -> None:
    """Serve until SIGTERM or SIGINT. `on_ready` is called when the ports are open.

    Raises StartError, LogError (the data directory) and TlsError (certificates).
    """
    raise_file_limit()
    keep_new_files_private()
    warn_of_readable_files(settings.data_dir)
    gc.set_threshold(GARBAGE_THRESHOLD)
    gc.freeze()
    gc.enable()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(settings, on_ready))


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop's event loop where it is installed, else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def raise_file_limit() -> None:
    """Raise this process's limit of open files to `OPEN_FILES`, or as far as the system allows."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def serve(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Do what `run` does, inside an event loop."""
    asyncio.get_running_loop().set_exception_handler(log_fault)
    stopping = asyncio.create_task(stop_signal())
    async with contextlib.AsyncExitStack() as stack:
        if settings.upstream:
            await look_at_upstream(settings, stack)
        starting = asyncio.create_task(start(settings, take_handed_down(settings), stack))
        try:
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                await starting
                on_ready()
                await stopping
        finally:
            starting.cancel()
            await asyncio.wait({starting})
            stopping.cancel()
        log.info("stopping")


async def start(settings: Settings, handed_down: HandedDown, stack: contextlib.AsyncExitStack) -> None:
    """Start on the log that the settings name. The steps that undo the start go on `stack`. Raises as `run` does."""
    if settings.log == "embedded":
        await start_alone(settings, handed_down, stack)
        return
    from kcoord.server.shared_log_start import start_among_others

    await start_among_others(settings, handed_down, stack)


async def start_alone(settings: Settings, handed_down: HandedDown, stack: contextlib.AsyncExitStack) -> None:
    """Start on a log that only this process uses. The steps that undo the start go on `stack`. Raises what `run`
    raises.
    """
    store = EmbeddedLog(
        settings.data_dir,
        partitions=settings.offsets_topic_num_partitions,
        history_retention_ms=settings.history_retention_ms,
        history_retention_bytes=settings.history_retention_bytes,
        check_interval_ms=settings.log_retention_check_interval_ms,
    )
    groups = group_settings(settings)
    log_is_new = not store.file.path.exists()
    await store.open()
    stack.push_async_callback(store.close)
    coordinator = make_coordinator(settings, groups, store, handed_down)
    gateway = make_own_gateway(settings, coordinator, log_is_new) if settings.upstream else None
    node = OneNode(cluster_id(settings.data_dir), settings.advertise)
    behind: Behind = gateway or stand_alone(settings, coordinator, node, stack)
    server = make_server(settings, behind, coordinator, stack)
    loading = asyncio.create_task(load(coordinator))
    stack.callback(loading.cancel)
    await asyncio.wait({loading}, timeout=HEAD_START_S)
    await open_ports(settings, server, gateway, handed_down, stack)


def make_own_gateway(settings: Settings, coordinator: Coordinator, log_is_new: bool) -> Gateway:
    """The gateway of a kcoord that is alone. Raises StartError."""
    from kcoord.server.startup.adopt_default import (  # with a gateway, which starts later than the rest
        began_new,
        tell_default,
    )

    is_new = began_new(settings, log_is_new)
    tell_default(settings, is_new)
    return make_gateway(settings, coordinator, is_new=is_new)


async def load(coordinator: Coordinator) -> None:
    """Load the groups, then exclude all objects that exist by now from garbage collection."""
    await coordinator.load()
    gc.freeze()


async def stop_signal() -> None:
    """Return on SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    await stopping.wait()


def log_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log one line for what clients cause (a failed TLS handshake), and a traceback for what should not happen."""
    error = context.get("exception")
    if isinstance(error, OSError):
        log.warning("%s: %s", context.get("message", "a connection failed"), error)
    else:
        log.error("%s", context.get("message"), exc_info=error)


def cluster_id(data_dir: Path) -> str:
    """The cluster id of a kcoord that runs alone: made once, then kept in the data directory."""
    file = data_dir / CLUSTER_ID_FILE
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        made = f"kcoord-{uuid.uuid4().hex[:15]}"
        beside = file.with_suffix(".new")
        beside.write_text(made + "\n", encoding="ascii")
        beside.replace(file)
        return made

"""How does a kcoord process start, serve and stop?

Order of a start: lock and open the log, load the groups, open the ports. The ports are open soon in any case, and
answer while groups load, because a client that finds nobody for one heartbeat interval gives up its work. Order of a
stop (SIGTERM, SIGINT, also during a start): close the ports, let what is being committed be answered, close the
connections, close the log.

With a log in a topic the ports are open first, then the group of the instances is joined: it makes a map in which this
one is, and what the map gives it is loaded. A stop goes the other way: all is handed over in good order and the group
is left, so that others have it at once, and only then the connections end.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import logging
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kcoord.config import Settings, setting_name
from kcoord.gateway.contract import GroupService, Places
from kcoord.gateway.gateway import Gateway
from kcoord.group.connect.settings import ConnectSettings, LegacyMode, MigrationPolicy
from kcoord.group.settings import MINUTE_MS, GroupLimits, GroupSettings
from kcoord.instances.instances import Instances, InstancesError
from kcoord.instances.membership import Membership
from kcoord.instances.places import MapPlaces
from kcoord.log.interface import Log
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.server.assignors import AssignorError, load_assignors
from kcoord.server.choose_log import cluster_id_of, embedded_log, kafka_log_settings, open_patiently
from kcoord.server.coordinator import Coordinator
from kcoord.server.gateway_settings import gateway_settings, request_limits
from kcoord.server.instances_settings import instances_settings, record_level
from kcoord.server.nodes import InstanceNodes, OneNode
from kcoord.server.private_files import keep_new_files_private, warn_of_readable_files
from kcoord.server.server import Behind, Limits, Server
from kcoord.server.standalone import Standalone
from kcoord.server.tls import listener_context

log = logging.getLogger("kcoord.server")

CLUSTER_ID_FILE = "cluster.id"
OPEN_FILES = 1 << 20
"""Open files that are asked for: each connection is one, behind a gateway two."""
HEAD_START_S = 1.0
"""How long the ports wait for the groups; most logs are loaded by then, and nobody is told to ask again."""
TELL_EVERY_S = 10.0
"""How often an instance that waits for its place among the others says so."""
IDS_AT_ONCE = 256
"""Member ids whose random bytes are fetched together."""
GARBAGE_THRESHOLD = 50_000
"""Containers made before Python looks for cycles among them. Groups and connections live long and hardly make any; with
Python's own 700 a seventh of all CPU of joining members went into looking.
"""


class StartError(Exception):
    """kcoord cannot start; the text says what is wrong, where, and what to do."""


def run(settings: Settings, on_ready: Callable[[], None] = lambda: None) -> None:
    """Serve until SIGTERM or SIGINT. `on_ready` is called when the ports are open.

    Raises StartError, LogError (the data directory) and TlsError (certificates).
    """
    raise_file_limit()
    keep_new_files_private()
    warn_of_readable_files(settings.data_dir)
    gc.set_threshold(GARBAGE_THRESHOLD)
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
    """Allow this process as many open files as the system lets it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def serve(settings: Settings, on_ready: Callable[[], None]) -> None:
    """As `run`, inside an event loop."""
    asyncio.get_running_loop().set_exception_handler(log_fault)
    stopping = asyncio.create_task(stop_signal())
    async with contextlib.AsyncExitStack() as stack:
        start = start_alone if settings.log == "embedded" else start_among_others
        starting = asyncio.create_task(start(settings, stack))
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


async def start_alone(settings: Settings, stack: contextlib.AsyncExitStack) -> None:
    """Start over a log of this process's own; what is to be undone goes on `stack`. Raises as `run`."""
    store = embedded_log(settings)
    groups = group_settings(settings)
    await store.open()
    stack.push_async_callback(store.close)
    coordinator = make_coordinator(settings, groups, store)
    gateway = make_gateway(settings, coordinator) if settings.upstream else None
    node = OneNode(cluster_id(settings.data_dir), settings.advertise)
    behind: Behind = gateway or Standalone(
        coordinator, node, connect_groups=settings.group_connect_enable, limits=request_limits(settings)
    )
    server = make_server(settings, behind, coordinator, stack)
    loading = asyncio.create_task(load(coordinator))
    stack.callback(loading.cancel)
    await asyncio.wait({loading}, timeout=HEAD_START_S)
    await open_ports(settings, server, gateway, stack)


async def start_among_others(settings: Settings, stack: contextlib.AsyncExitStack) -> None:
    """The same over a log that instances share."""
    groups = group_settings(settings)
    where = kafka_log_settings(settings)
    store = KafkaLog(where)
    stack.push_async_callback(store.close)
    await open_patiently(store)
    coordinator = make_coordinator(settings, groups, store)
    serials = itertools.count(1)
    instances, gateway = make_instances(settings, where, coordinator, partial(next, serials))
    share(coordinator, instances.membership)
    behind: Behind = gateway or Standalone(
        coordinator,
        InstanceNodes(await cluster_id_of(where), instances.membership),
        connect_groups=settings.group_connect_enable,
        shared=instances.groups,
        limits=request_limits(settings),
    )
    server = make_server(settings, behind, coordinator, stack, serials, instances.groups.closed)
    await open_ports(settings, server, gateway, stack)
    if gateway is not None:
        stack.push_async_callback(gateway.send_away)
    stack.push_async_callback(instances.stop)
    if gateway is not None:
        stack.callback(gateway.leave)
    await join(settings, instances)


def make_instances(
    settings: Settings, where: KafkaLogSettings, coordinator: Coordinator, new_serial: Callable[[], int]
) -> tuple[Instances, Gateway | None]:
    """This process among the others, and the gateway if there is to be one. Raises StartError."""
    gateways: list[Gateway] = []
    try:
        instances = Instances(
            instances_settings(settings, where),
            coordinator,
            new_serial,
            known_brokers=lambda: [broker for gateway in gateways for broker in gateway.brokers.ids],
        )
    except InstancesError as error:
        raise StartError(str(error)) from None
    if settings.upstream:
        gateways.append(
            make_gateway(settings, instances.groups, MapPlaces(instances.membership, instances.addresses_of_brokers))
        )
    return instances, gateways[0] if gateways else None


def share(coordinator: Coordinator, membership: Membership) -> None:
    """Let the coordinator serve what is this instance's, and write what all instances can read."""

    def follow_map() -> None:
        coordinator.write_at_level(membership.map.record_level)
        coordinator.follow_owners()

    coordinator.confirm = membership.confirm
    coordinator.is_awaited = membership.is_awaited
    follow_map()
    membership.on_change.append(follow_map)


async def join(settings: Settings, instances: Instances) -> None:
    """Take a place among the instances; comes back when there is a map. Raises StartError."""
    try:
        await instances.start()
    except OSError as error:
        at = settings.internal_listen
        raise StartError(f"cannot listen on {at}, internal.listen: {error.strerror or error}") from error
    joined = asyncio.ensure_future(instances.joined())
    try:
        while not (await asyncio.wait({joined}, timeout=TELL_EVERY_S))[0]:
            log.warning("waiting for a place in group %s of the instances", settings.instances_group)
    finally:
        joined.cancel()


def make_coordinator(settings: Settings, groups: GroupSettings, store: Log) -> Coordinator:
    """The coordinator of all groups in `store`, which is open."""
    ids = partial(next, unique_ids())
    coordinator = Coordinator(store, groups, settings.offsets_topic_num_partitions, ids, given_names(settings))
    coordinator.write_at_level(record_level(settings))
    return coordinator


def make_server(
    settings: Settings,
    behind: Behind,
    coordinator: Coordinator,
    stack: contextlib.AsyncExitStack,
    serials: Iterator[int] | None = None,
    on_gone: Callable[[int], None] | None = None,
) -> Server:
    """The server, without ports yet. Raises TlsError."""
    server = Server(limits(settings), behind, tls(settings), serials, on_gone or coordinator.closed)
    stack.push_async_callback(server.close_connections)
    stack.push_async_callback(coordinator.stop)
    return server


async def open_ports(
    settings: Settings, server: Server, gateway: Gateway | None, stack: contextlib.AsyncExitStack
) -> None:
    """Open all ports. Raises StartError."""
    stack.push_async_callback(server.close_listeners)
    await listen(server, settings, None, settings.listen[1])
    if gateway is not None:
        stack.push_async_callback(gateway.stop)
        await gateway.start(lambda broker_id, port: listen(server, settings, broker_id, port))


async def load(coordinator: Coordinator) -> None:
    """Load the groups, and spare the garbage collector what is there from the start."""
    await coordinator.load()
    gc.freeze()


def make_gateway(settings: Settings, groups: GroupService, places: Places | None = None) -> Gateway:
    """The gateway that `settings` describe. Raises StartError."""
    try:
        return Gateway(gateway_settings(settings), groups, places)
    except ValueError as error:
        raise StartError(str(error)) from None


async def listen(server: Server, settings: Settings, broker_id: int | None, port: int) -> None:
    """Open one port, with a clear error when it cannot be."""
    host = settings.listen[0]
    try:
        await server.listen(host, port, broker_id)
    except OSError as error:
        what = "the bootstrap port" if broker_id is None else f"the port of broker {broker_id}"
        raise StartError(
            f"cannot listen on {host}:{port}, {what}: {error.strerror or error}. "
            "Choose another address with --listen, or stop what uses this one"
        ) from error


async def stop_signal() -> None:
    """Return on SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    await stopping.wait()


def log_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """One line for what clients do (a TLS handshake that fails), a traceback for what should not happen."""
    error = context.get("exception")
    if isinstance(error, OSError):
        log.warning("%s: %s", context.get("message", "a connection failed"), error)
    else:
        log.error("%s", context.get("message"), exc_info=error)


def given_names(settings: Settings) -> frozenset[str]:
    """The names of all settings that somebody gave a value."""
    return frozenset(setting_name(field) for field in settings.model_fields_set)


def connect_settings(settings: Settings) -> ConnectSettings:
    """What the engine is told of connect groups. Raises StartError for an assignor that is not there."""
    try:
        assignors = load_assignors(settings.group_connect_assignors)
    except AssignorError as error:
        raise StartError(str(error)) from error
    return ConnectSettings(
        session_timeout_ms=settings.group_connect_session_timeout_ms,
        min_session_timeout_ms=settings.group_connect_min_session_timeout_ms,
        max_session_timeout_ms=settings.group_connect_max_session_timeout_ms,
        heartbeat_interval_ms=settings.group_connect_heartbeat_interval_ms,
        min_heartbeat_interval_ms=settings.group_connect_min_heartbeat_interval_ms,
        max_heartbeat_interval_ms=settings.group_connect_max_heartbeat_interval_ms,
        max_size=settings.group_connect_max_size,
        rebalance_delay_ms=settings.group_connect_rebalance_delay_ms,
        max_rebalance_delay_ms=settings.group_connect_max_rebalance_delay_ms,
        migration_policy=MigrationPolicy(settings.group_connect_migration_policy),
        legacy_mode=LegacyMode(settings.group_connect_legacy_mode),
        legacy_wait_ms=settings.group_connect_legacy_heartbeat_wait_ms,
        leader_wait_ms=settings.group_connect_legacy_leader_wait_ms,
        assignors=assignors,
    )


def group_settings(settings: Settings) -> GroupSettings:
    """What the engine is told. Raises StartError."""
    return GroupSettings(
        min_session_timeout_ms=settings.group_min_session_timeout_ms,
        max_session_timeout_ms=settings.group_max_session_timeout_ms,
        initial_rebalance_delay_ms=settings.group_initial_rebalance_delay_ms,
        max_size=settings.group_max_size,
        offset_metadata_max_bytes=settings.offset_metadata_max_bytes,
        offsets_retention_ms=settings.offsets_retention_minutes * MINUTE_MS,
        offsets_retention_check_interval_ms=settings.offsets_retention_check_interval_ms,
        limits=GroupLimits(
            id_length=settings.group_max_id_length,
            member_metadata_bytes=settings.group_max_member_metadata_bytes,
            group_bytes=settings.group_max_bytes,
            resources=settings.group_connect_max_resources,
            offsets=settings.group_max_offsets,
            creations_per_s=settings.max_group_creation_rate,
            creations_at_once=settings.max_group_creation_burst,
        ),
        connect=connect_settings(settings),
    )


def limits(settings: Settings) -> Limits:
    """What connections are told."""
    return Limits(
        frame_bytes=settings.socket_request_max_bytes,
        unauthenticated_frame_bytes=settings.sasl_server_max_receive_size,
        connections=settings.max_connections,
        connections_per_address=settings.max_connections_per_ip,
        idle_ms=settings.connections_max_idle_ms,
        authentication_ms=settings.connections_authentication_timeout_ms,
        progress_ms=settings.request_progress_timeout_ms,
        held_bytes=settings.queued_max_request_bytes,
    )


def tls(settings: Settings) -> Any:
    """The listener's TLS context; None for plaintext. Raises TlsError."""
    if settings.ssl_certificate_location is None:
        return None
    return listener_context(
        settings.ssl_certificate_location,
        settings.ssl_key_location,
        settings.ssl_key_password,
        settings.ssl_ca_location if settings.ssl_client_auth == "required" else None,
    )


def unique_ids() -> Iterator[str]:
    """The unique parts of member ids, without end: random UUIDs.

    The random bytes of many are asked of the system at once: each asking lets go of Python's lock, which the log's
    thread then holds for a while.
    """
    size = 16
    while True:
        pool = os.urandom(size * IDS_AT_ONCE)
        for at in range(0, len(pool), size):
            yield str(uuid.UUID(bytes=pool[at : at + size], version=4))


def cluster_id(data_dir: Path) -> str:
    """The id of the cluster that a lone kcoord is: made once, kept in the data directory."""
    file = data_dir / CLUSTER_ID_FILE
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        made = f"kcoord-{uuid.uuid4().hex[:15]}"
        beside = file.with_suffix(".new")
        beside.write_text(made + "\n", encoding="ascii")
        beside.replace(file)
        return made

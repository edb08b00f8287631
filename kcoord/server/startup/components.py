"""The components of a process: each part, built from the settings, with a clear error when it cannot be built.

Parts that only some installations need are imported where they are built. Without the gateway, the instances and
Kafka's client, a kcoord that runs alone starts in half the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings, MigrationPolicy
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.settings import MINUTE_MS, GroupLimits, GroupSettings
from kcoord.log.interface import Log
from kcoord.server.server import Behind, Limits, Server
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.shards.record_level_to_write import record_level
from kcoord.server.startup.assignors import AssignorError, load_assignors, load_consumer_assignors
from kcoord.server.startup.listen_fds import CLIENTS, INTERNAL, HandedDown, HandedDownError, broker
from kcoord.server.startup.served_groups import serves_consumer_groups
from kcoord.server.startup.tls import listener_context
from kcoord.settings_sources import Settings, setting_name

if TYPE_CHECKING:
    from kcoord.gateway.gateway import Gateway
    from kcoord.gateway.interfaces import GroupService, Places

IDS_AT_ONCE = 256
"""Number of member ids whose random bytes are fetched at once."""


class StartError(Exception):
    """kcoord cannot start; the text says what is wrong, where, and what to do."""


def make_coordinator(
    settings: Settings, groups: GroupSettings, store: Log, handed_down: HandedDown | None = None
) -> Coordinator:
    """The coordinator of all groups in `store`."""
    ids = partial(next, unique_ids())
    coordinator = Coordinator(
        store,
        groups,
        settings.offsets_topic_num_partitions,
        ids,
        given_names(settings),
        has_older_connections=bool(handed_down),
        consumer_groups=serves_consumer_groups(settings),
    )
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
    """The server, which has no ports yet. Raises TlsError."""
    server = Server(limits(settings), behind, tls(settings), serials, on_gone or coordinator.closed)
    stack.push_async_callback(server.close_connections)
    stack.push_async_callback(coordinator.stop)
    return server


async def open_ports(
    settings: Settings,
    server: Server,
    gateway: Gateway | None,
    handed_down: HandedDown,
    stack: contextlib.AsyncExitStack,
) -> None:
    """Open all ports. Raises StartError."""
    stack.push_async_callback(server.close_listeners)
    await listen(server, settings, handed_down, None, settings.listen[1])
    if gateway is not None:
        stack.push_async_callback(gateway.stop)
        await gateway.start(lambda broker_id, port: listen(server, settings, handed_down, broker_id, port))


def make_gateway(
    settings: Settings, groups: GroupService, places: Places | None = None, *, is_new: bool | None
) -> Gateway:
    """The gateway that `settings` describe. `is_new`: whether this installation began with a kcoord that adopts
    groups; None: the map of the instances says it. Raises StartError.
    """
    from kcoord.gateway.gateway import Gateway
    from kcoord.server.startup.gateway_settings import gateway_settings

    try:
        chosen = gateway_settings(settings)
        if chosen.adopts is None:
            chosen = attrs.evolve(chosen, adopts=is_new)
        return Gateway(chosen, groups, places)
    except ValueError as error:
        raise StartError(str(error)) from None


async def look_at_upstream(settings: Settings, stack: contextlib.AsyncExitStack) -> None:
    """Start the task that logs what is wrong with the upstream cluster. Raises StartError if `upstream` names kcoord
    itself.
    """
    from kcoord.gateway.tls import upstream_context
    from kcoord.server.startup.gateway_settings import gateway_settings
    from kcoord.server.startup.upstream_watch import own_addresses, watch_upstream

    for host, port in await asyncio.to_thread(own_addresses, settings):
        raise StartError(
            f"upstream {host}:{port} is where kcoord itself listens: name the cluster's brokers in --upstream, or let "
            "kcoord listen at another port (--listen)"
        )
    try:
        tls_context = upstream_context(gateway_settings(settings))
    except ValueError as error:
        raise StartError(str(error)) from None
    watching = asyncio.create_task(watch_upstream(settings, tls_context))
    stack.callback(watching.cancel)


async def listen(server: Server, settings: Settings, handed_down: HandedDown, broker_id: int | None, port: int) -> None:
    """Open one port, or take the sockets that were handed down for it. Raises StartError if neither is possible."""
    host = settings.listen[0]
    try:
        await server.listen(host, port, broker_id, handed_down.of(broker(broker_id), host, port))
    except HandedDownError as error:
        raise StartError(str(error)) from None
    except OSError as error:
        what = "the bootstrap port" if broker_id is None else f"the port of broker {broker_id}"
        raise StartError(
            f"cannot listen on {host}:{port}, {what}: {error.strerror or error}. "
            "Choose another address with --listen, or stop what uses this one"
        ) from error


def take_handed_down(settings: Settings) -> HandedDown:
    """The sockets that were handed down to this process. Raises StartError for everything that can be seen at the start
    to be wrong with them.
    """
    try:
        handed_down = HandedDown.take()
        listeners = {CLIENTS: settings.listen}
        if settings.internal_listen is not None and settings.log == "kafka":
            listeners[INTERNAL] = settings.internal_listen
        for listener, (host, port) in listeners.items():
            handed_down.of(listener, host, port)
        if not settings.upstream:
            handed_down.check_all_taken(", ".join(f"{host}:{port}" for host, port in listeners.values()))
    except HandedDownError as error:
        raise StartError(str(error)) from None
    return handed_down


def given_names(settings: Settings) -> frozenset[str]:
    """The names of all settings that were set explicitly."""
    return frozenset(setting_name(field) for field in settings.model_fields_set)


def connect_settings(settings: Settings) -> ConnectSettings:
    """The engine's settings for connect groups. Raises StartError for an assignor that does not exist."""
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
        classic_mode=ClassicMode(settings.group_connect_classic_mode),
        classic_wait_ms=settings.group_connect_classic_heartbeat_wait_ms,
        leader_wait_ms=settings.group_connect_classic_leader_wait_ms,
        assignors=assignors,
    )


def group_settings(settings: Settings) -> GroupSettings:
    """The engine's settings. Raises StartError."""
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
        consumer=consumer_settings(settings),
    )


def consumer_settings(settings: Settings) -> ConsumerSettings:
    """The engine's settings for consumer groups. Raises StartError for an assignor that does not exist."""
    is_served = serves_consumer_groups(settings)
    try:
        assignors = load_consumer_assignors(settings.group_consumer_assignors)
    except AssignorError as error:
        raise StartError(str(error)) from error
    return ConsumerSettings(
        session_timeout_ms=settings.group_consumer_session_timeout_ms,
        min_session_timeout_ms=settings.group_consumer_min_session_timeout_ms,
        max_session_timeout_ms=settings.group_consumer_max_session_timeout_ms,
        heartbeat_interval_ms=settings.group_consumer_heartbeat_interval_ms,
        min_heartbeat_interval_ms=settings.group_consumer_min_heartbeat_interval_ms,
        max_heartbeat_interval_ms=settings.group_consumer_max_heartbeat_interval_ms,
        heartbeat_wait_ms=settings.group_consumer_heartbeat_wait_ms,
        assignment_interval_ms=settings.group_consumer_assignment_interval_ms,
        min_assignment_interval_ms=settings.group_consumer_min_assignment_interval_ms,
        max_assignment_interval_ms=settings.group_consumer_max_assignment_interval_ms,
        max_size=settings.group_consumer_max_size,
        migration_policy=MigrationPolicy(settings.group_consumer_migration_policy),
        classic_mode=ClassicMode(settings.group_consumer_classic_mode) if is_served else ClassicMode.BARRIER,
        client_assignors=settings.group_consumer_client_assignors_enable,
        assignors=assignors,
    )


def limits(settings: Settings) -> Limits:
    """The limits of connections."""
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
    """An endless iterator over the unique parts of member ids: random UUIDs.

    It asks the system for the random bytes of many ids at once. Each system call releases Python's global lock, and the
    log's thread then holds that lock for a while.
    """
    size = 16
    while True:
        pool = os.urandom(size * IDS_AT_ONCE)
        for at in range(0, len(pool), size):
            yield str(uuid.UUID(bytes=pool[at : at + size], version=4))

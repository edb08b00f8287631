"""The start and stop of an instance that shares its log with other instances.

The instance opens its ports first and then joins the group of the instances. The leader makes a map that includes this
instance, and the instance loads the partitions that the map gives it. A stop goes the other way: the instance hands
over its partitions and leaves the group, so that others have them at once; only then it closes the connections.

A kcoord that runs alone does not import this module: importing what it needs (aiokafka, the instances) takes longer
than the rest of the start.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import attrs

from kcoord.instances.instance_parts import Instances, InstancesError
from kcoord.instances.instances_by_broker import MapPlaces
from kcoord.instances.membership import Membership
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.server.server import Behind
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone_nodes import InstanceNodes
from kcoord.server.standalone_start import stand_alone
from kcoord.server.startup.adopt_default import began_new, remember, tell_default
from kcoord.server.startup.components import (
    StartError,
    group_settings,
    make_coordinator,
    make_gateway,
    make_server,
    open_ports,
)
from kcoord.server.startup.instances_settings import instances_settings
from kcoord.server.startup.listen_fds import INTERNAL, HandedDown
from kcoord.server.startup.log_opening import cluster_id_of, kafka_log_settings, open_patiently
from kcoord.settings_sources import Settings

if TYPE_CHECKING:
    from kcoord.gateway.gateway import Gateway

log = logging.getLogger("kcoord.server")

TELL_EVERY_S = 10.0
"""The interval at which an instance logs that it still waits for its place among the others."""


async def start_among_others(settings: Settings, handed_down: HandedDown, stack: contextlib.AsyncExitStack) -> None:
    """Start on a log that instances share. The steps that undo the start go on `stack`. Raises StartError, LogError and
    TlsError.
    """
    groups = group_settings(settings)
    where = kafka_log_settings(settings)
    store = KafkaLog(where)
    stack.push_async_callback(store.close)
    await open_patiently(store)
    coordinator = make_coordinator(settings, groups, store)
    serials = itertools.count(1)
    is_new = bool(settings.upstream) and began_new(settings, store.is_new)
    instances, gateway = make_instances(settings, where, coordinator, partial(next, serials), is_new)
    share(coordinator, instances.membership)
    if gateway is not None:
        spread_beginning(settings, instances.membership)
    nodes = InstanceNodes(await cluster_id_of(where), instances.membership)
    behind: Behind = gateway or stand_alone(settings, coordinator, nodes, stack, instances.groups)
    server = make_server(settings, behind, coordinator, stack, serials, instances.groups.closed)
    await open_ports(settings, server, gateway, handed_down, stack)
    if gateway is not None:
        stack.push_async_callback(gateway.send_away)
    stack.push_async_callback(instances.stop)
    if gateway is not None:
        stack.callback(gateway.leave)
    await join(settings, instances, handed_down)
    if gateway is not None:
        tell_default(settings, instances.membership.instance.began_new)


def make_instances(
    settings: Settings,
    where: KafkaLogSettings,
    coordinator: Coordinator,
    new_serial: Callable[[], int],
    is_new: bool,
) -> tuple[Instances, Gateway | None]:
    """This process as one of the instances, and its gateway if the settings name an upstream. `is_new`: what the data
    directory says of the beginning of this installation. Raises StartError.
    """
    gateways: list[Gateway] = []
    try:
        instances = Instances(
            instances_settings(settings, where, is_new),
            coordinator,
            new_serial,
            known_brokers=lambda: [broker for gateway in gateways for broker in gateway.brokers.ids],
        )
    except InstancesError as error:
        raise StartError(str(error)) from None
    if settings.upstream:
        gateways.append(
            make_gateway(
                settings,
                instances.groups,
                MapPlaces(instances.membership, instances.addresses_of_brokers),
                is_new=None,
            )
        )
    return instances, gateways[0] if gateways else None


def share(coordinator: Coordinator, membership: Membership) -> None:
    """Make the coordinator serve this instance's partitions only, and write only records that all instances can
    read.
    """

    def follow_map() -> None:
        coordinator.write_at_level(membership.map.record_level)
        coordinator.follow_owners()

    coordinator.confirm = membership.confirm
    coordinator.is_awaited = membership.is_awaited
    follow_map()
    membership.on_change.append(follow_map)


def spread_beginning(settings: Settings, membership: Membership) -> None:
    """Note and pass on what another instance says: the installation began with a kcoord that adopts groups."""

    def follow_map() -> None:
        if membership.map.began_new and not membership.instance.began_new:
            membership.instance = attrs.evolve(membership.instance, began_new=True)
            if settings.gateway_adopt is None:
                log.info("another instance says that this installation is a new one: gateway.adopt is auto")
            try:
                remember(settings)
            except OSError as error:
                log.warning("cannot write to the data directory %s: %s", settings.data_dir, error.strerror or error)

    membership.on_change.append(follow_map)


async def join(settings: Settings, instances: Instances, handed_down: HandedDown) -> None:
    """Join the group of the instances. Returns when there is a map. Raises StartError."""
    at = settings.internal_listen
    try:
        await instances.start(handed_down.of(INTERNAL, *at) if at is not None else ())
    except OSError as error:
        raise StartError(f"cannot listen on {at}, internal.listen: {error.strerror or error}") from error
    joined = asyncio.ensure_future(instances.joined())
    try:
        while not (await asyncio.wait({joined}, timeout=TELL_EVERY_S))[0]:
            log.warning("waiting for a place in group %s of the instances", settings.instances_group)
    finally:
        joined.cancel()

"""Who is there, and whose is each partition? The map that all instances go by, and its way in and out of bytes.

The leader of the instances' group makes it (`assign.py`), and every member gets the same one: so all instances name the
same owner for a group and the same instance for a broker, in every answer (GW-19). It never changes; a new
round of the group gives a new one with a higher epoch.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TypeVar

import attrs

from kcoord.group.partition import partition_of
from kcoord.protocol.generated import instance_map, instance_metadata
from kcoord.protocol.generated.instance_address import BrokerPort, InstanceAddress
from kcoord.protocol.message import Message
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.record_levels import RELEASE_0_1_0, writable_level

__all__ = ["EMPTY_MAP", "Address", "Facts", "Instance", "InstanceMap"]

Address = tuple[str, int]
"""Host and port."""

VERSION = 0
HIGHEST_PORT = 65535
NOBODY = -1

Read = TypeVar("Read", bound=Message)

_VERSION = struct.Struct(">h")


@attrs.frozen(kw_only=True)
class Instance:
    """One process of kcoord."""

    instance_id: int
    member_id: str = ""
    """Its name in the instances' group; empty until the group has given it one."""
    started_ms: int
    """When its process began, in ms since 1970."""
    host: str
    port: int
    """By which clients reach it first."""
    port_offset: int = 1
    """Broker b is at `port` + `port_offset` + b (GW-1) ..."""
    broker_ports: Mapping[int, int] = attrs.Factory(dict)
    """... but these."""
    internal: Address | None = None
    """Where it takes calls of other instances; None: nowhere."""
    lease_ms: int = 0
    record_level: int = RELEASE_0_1_0
    """Which records of the log it can read."""

    def address_of_broker(self, broker_id: int) -> Address | None:
        """By which host and port clients reach that broker through this instance; None where there is no such port."""
        port = self.broker_ports.get(broker_id, self.port + self.port_offset + broker_id)
        return (self.host, port) if 0 < port <= HIGHEST_PORT else None

    def encode(self) -> bytes:
        """The version, and the instance in it."""
        host, port = self.internal or (None, 0)
        return _encode(
            InstanceAddress(
                instance_id=self.instance_id,
                member_id=self.member_id,
                started_ms=self.started_ms,
                host=self.host,
                port=self.port,
                port_offset=self.port_offset,
                broker_ports=[BrokerPort(broker_id=broker, port=at) for broker, at in self.broker_ports.items()],
                internal_host=host,
                internal_port=port,
                lease_ms=self.lease_ms,
                record_level=self.record_level,
            )
        )

    @classmethod
    def decode(cls, data: bytes) -> Instance:
        """The instance in `data`. Raises DecodeError, also for a version that a newer kcoord wrote."""
        read = _decode(InstanceAddress, data)
        return cls(
            instance_id=read.instance_id,
            member_id=read.member_id,
            started_ms=read.started_ms,
            host=read.host,
            port=read.port,
            port_offset=read.port_offset,
            broker_ports={each.broker_id: each.port for each in read.broker_ports},
            internal=None if read.internal_host is None else (read.internal_host, read.internal_port),
            lease_ms=read.lease_ms,
            record_level=read.record_level,
        )

    def __str__(self) -> str:
        return f"instance {self.instance_id} at {self.host}:{self.port} (started {self.started_ms})"


@attrs.frozen(kw_only=True)
class InstanceMap:
    """Who owns what, and who stands before which broker. Epochs grow; 0 is the map of before the first round."""

    epoch: int
    instances: Mapping[int, Instance] = attrs.Factory(dict)
    partitions: tuple[int | None, ...] = ()
    """The owner of each partition by its number; None while it is on its way from one to another, or nobody can."""
    brokers: Mapping[int, int] = attrs.Factory(dict)
    """Instances' numbers by broker."""

    def owner(self, partition: int) -> Instance | None:
        """Who answers for a partition; None: nobody at the moment."""
        owner = self.partitions[partition] if 0 <= partition < len(self.partitions) else None
        return None if owner is None else self.instances.get(owner)

    def owner_of_group(self, group_id: str) -> Instance | None:
        """Who answers for a group; None: nobody at the moment."""
        return self.owner(partition_of(group_id, len(self.partitions))) if self.partitions else None

    def owned_by(self, instance_id: int) -> frozenset[int]:
        """The partitions of one instance."""
        return frozenset(at for at, owner in enumerate(self.partitions) if owner == instance_id)

    def instance_of_broker(self, broker_id: int) -> Instance | None:
        """Who stands before a broker; None: nobody is there at all. A broker that nobody knew of when the map was made
        has the same instance wherever one asks.
        """
        found = self.brokers.get(broker_id)
        if found is None and self.instances:
            found = sorted(self.instances)[broker_id % len(self.instances)]
        return None if found is None else self.instances.get(found)

    def address_of_broker(self, broker_id: int) -> Address | None:
        """By which host and port clients reach a broker; None where nobody is there, or there is no such port."""
        instance = self.instance_of_broker(broker_id)
        return None if instance is None else instance.address_of_broker(broker_id)

    @property
    def in_transit(self) -> frozenset[int]:
        """The partitions that nobody owns at the moment."""
        return frozenset(at for at, owner in enumerate(self.partitions) if owner is None)

    @property
    def record_level(self) -> int:
        """The level that may be written into the log: every instance reads it."""
        return writable_level(each.record_level for each in self.instances.values())

    def encode(self) -> bytes:
        """The version, and the map in it."""
        return _encode(
            instance_map.InstanceMap(
                epoch=self.epoch,
                instances=[instance_map.Instance(address=each.encode()) for each in self.instances.values()],
                partitions=[NOBODY if owner is None else owner for owner in self.partitions],
                brokers=[
                    instance_map.BrokerFront(broker_id=broker, instance_id=instance)
                    for broker, instance in self.brokers.items()
                ],
            )
        )

    @classmethod
    def decode(cls, data: bytes) -> InstanceMap:
        """The map in `data`. Raises DecodeError, also for a version that a newer kcoord wrote."""
        read = _decode(instance_map.InstanceMap, data)
        return cls(
            epoch=read.epoch,
            instances={each.instance_id: each for each in (Instance.decode(one.address) for one in read.instances)},
            partitions=tuple(None if owner == NOBODY else owner for owner in read.partitions),
            brokers={each.broker_id: each.instance_id for each in read.brokers},
        )


EMPTY_MAP = InstanceMap(epoch=0)


@attrs.frozen(kw_only=True)
class Facts:
    """What an instance says of itself and of what it sees when it joins a round."""

    instance: Instance
    partitions: int
    """How many it believes that there are."""
    owned: frozenset[int] = frozenset()
    """What it holds, and has held since it came by its place in the group."""
    brokers: frozenset[int] = frozenset()
    """The brokers that it stands before, as far as it knows them; none without a gateway."""
    leaders: tuple[int | None, ...] = ()
    """Which broker leads each partition of `__consumer_offsets`; empty where that is nobody's business."""
    former: InstanceMap | None = None
    """The newest map that it has."""
    unreadable: frozenset[int] = frozenset()
    """The partitions that it cannot serve, because a newer kcoord has written to them."""

    def encode(self) -> bytes:
        """The version, and the facts in it."""
        return _encode(
            instance_metadata.InstanceMetadata(
                instance=self.instance.encode(),
                partitions=self.partitions,
                owned=sorted(self.owned),
                brokers=sorted(self.brokers),
                leaders=[NOBODY if leader is None else leader for leader in self.leaders],
                map=None if self.former is None else self.former.encode(),
                unreadable=sorted(self.unreadable),
            )
        )

    @classmethod
    def decode(cls, data: bytes) -> Facts:
        """The facts in `data`. Raises DecodeError, also for a version that a newer kcoord wrote."""
        read = _decode(instance_metadata.InstanceMetadata, data)
        return cls(
            instance=Instance.decode(read.instance),
            partitions=read.partitions,
            owned=frozenset(read.owned),
            brokers=frozenset(read.brokers),
            leaders=tuple(None if leader == NOBODY else leader for leader in read.leaders),
            former=None if read.map is None else InstanceMap.decode(read.map),
            unreadable=frozenset(read.unreadable),
        )


def _encode(message: Message) -> bytes:
    return _VERSION.pack(VERSION) + message.encode(VERSION)


def _decode(read: type[Read], data: bytes) -> Read:
    if len(data) < _VERSION.size:
        raise DecodeError(f"{read.NAME}: {len(data)} bytes are too few")
    return read.decode(data, _VERSION.unpack_from(data)[0], _VERSION.size)

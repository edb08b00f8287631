"""The map of the instances: which instances there are, which partition each owns, and its encoding.

The leader of the instances' group makes the map (`map_assignment.py`), and every member gets the same one. So in every
answer all instances name the same owner for a group and the same instance for a broker (GW-19). A map never changes;
each round of the group makes a new one with a higher epoch.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TypeVar

import attrs

from kcoord.group.partition_of_group import partition_of
from kcoord.protocol.generated import instance_map, instance_metadata
from kcoord.protocol.generated.instance_address import BrokerPort, InstanceAddress
from kcoord.protocol.message_base import Message
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
    """One instance of kcoord: a process and its addresses."""

    instance_id: int
    member_id: str = ""
    """Its member id in the instances' group; empty until the group has assigned one."""
    started_ms: int
    """When its process started, in ms since 1970."""
    host: str
    port: int
    """The port that clients use first (bootstrap)."""
    port_offset: int = 1
    """The port for broker b is `port` + `port_offset` + b (GW-1) ..."""
    broker_ports: Mapping[int, int] = attrs.Factory(dict)
    """... except for these brokers."""
    internal: Address | None = None
    """The address where it takes calls from other instances; None: it takes none."""
    lease_ms: int = 0
    record_level: int = RELEASE_0_1_0
    """The highest level of records that it can read."""
    began_new: bool = False
    """Whether it knows that its installation began with a kcoord that adopts groups (`gateway.adopt`)."""

    def address_of_broker(self, broker_id: int) -> Address | None:
        """The address by which clients reach a broker through this instance; None if the port would be invalid."""
        port = self.broker_ports.get(broker_id, self.port + self.port_offset + broker_id)
        return (self.host, port) if 0 < port <= HIGHEST_PORT else None

    def encode(self) -> bytes:
        """The version, then the instance in that version."""
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
                began_new=self.began_new,
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
            began_new=read.began_new,
        )

    def __str__(self) -> str:
        return f"instance {self.instance_id} at {self.host}:{self.port} (started {self.started_ms})"


@attrs.frozen(kw_only=True)
class InstanceMap:
    """Which instance owns which partition, and which stands before which broker. Epochs grow; epoch 0 is the empty map
    from before the first round.
    """

    epoch: int
    instances: Mapping[int, Instance] = attrs.Factory(dict)
    partitions: tuple[int | None, ...] = ()
    """The owner of each partition, by its number; None while the partition moves between owners, or if no instance can
    have it.
    """
    brokers: Mapping[int, int] = attrs.Factory(dict)
    """Broker → number of its instance."""

    def owner(self, partition: int) -> Instance | None:
        """The instance that answers for a partition; None if none does at the moment."""
        owner = self.partitions[partition] if 0 <= partition < len(self.partitions) else None
        return None if owner is None else self.instances.get(owner)

    def owner_of_group(self, group_id: str) -> Instance | None:
        """The instance that answers for a group; None if none does at the moment."""
        return self.owner(partition_of(group_id, len(self.partitions))) if self.partitions else None

    def owned_by(self, instance_id: int) -> frozenset[int]:
        """The partitions that one instance owns."""
        return frozenset(at for at, owner in enumerate(self.partitions) if owner == instance_id)

    def instance_of_broker(self, broker_id: int) -> Instance | None:
        """The instance that stands before a broker; None if there are no instances. For a broker that was not known
        when the map was made, all instances give the same one.
        """
        found = self.brokers.get(broker_id)
        if found is None and self.instances:
            found = sorted(self.instances)[broker_id % len(self.instances)]
        return None if found is None else self.instances.get(found)

    def address_of_broker(self, broker_id: int) -> Address | None:
        """The address by which clients reach a broker; None if there is no instance or the port would be invalid."""
        instance = self.instance_of_broker(broker_id)
        return None if instance is None else instance.address_of_broker(broker_id)

    @property
    def in_transit(self) -> frozenset[int]:
        """The partitions that no instance owns at the moment."""
        return frozenset(at for at, owner in enumerate(self.partitions) if owner is None)

    @property
    def record_level(self) -> int:
        """The highest record level that every instance can read; only such records may be written."""
        return writable_level(each.record_level for each in self.instances.values())

    @property
    def began_new(self) -> bool:
        """Whether an instance knows that the installation began with a kcoord that adopts groups."""
        return any(each.began_new for each in self.instances.values())

    def encode(self) -> bytes:
        """The version, then the map in that version."""
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
    """What an instance reports of itself and its surroundings when it joins a round."""

    instance: Instance
    partitions: int
    """The number of partitions by its own settings."""
    owned: frozenset[int] = frozenset()
    """The partitions that it holds, all of them gained from its present place in the group."""
    brokers: frozenset[int] = frozenset()
    """The brokers of the upstream cluster, as far as it knows them; none without a gateway."""
    leaders: tuple[int | None, ...] = ()
    """The broker that leads each partition of `__consumer_offsets`; empty if that does not matter."""
    former: InstanceMap | None = None
    """The newest map that it has."""
    unreadable: frozenset[int] = frozenset()
    """The partitions that it cannot serve, because a newer kcoord has written to them."""

    def encode(self) -> bytes:
        """The version, then the facts in that version."""
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

"""The fields of a heartbeat: all of them at a join and after an error, else only those that have changed (CG-6).

A field counts as known to the coordinator when an answer at the epoch of its request has come. If the answer moved the
epoch, the coordinator may have taken the request for one at the previous epoch, which changes nothing (CG-12): then the
field is sent again.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign import Resource
from kcoord.protocol.config_source import ConfigSource
from kcoord.protocol.generated.connect_group_heartbeat_request import (
    Assignor,
    ConnectGroupHeartbeatRequest,
    ConnectorsAndTasks,
    ConnectorTaskId,
)
from kcoord.protocol.resources import pack
from kcoord.worker.setup import Setup

OWNED = "owned"
REBALANCE_TIMEOUT = "rebalance_timeout_ms"
CONFIGURED = "configured"


def fields_of(setup: Setup, owned: frozenset[Resource]) -> dict[str, object]:
    """All fields that the worker can send; unused ones are left out."""
    fields: dict[str, object] = {
        "instance_id": setup.instance_id,
        REBALANCE_TIMEOUT: setup.rebalance_timeout_ms,
        "server_assignor": setup.server_assignor,
        "client_assignors": setup.offers or None,
        "url": setup.url,
        "trouble": setup.trouble,
        CONFIGURED: None if setup.configured is None else (setup.config_offset, setup.configured),
        OWNED: owned,
    }
    return {name: value for name, value in fields.items() if value is not None}


@attrs.define
class Saying:
    """The fields that the coordinator knows of this worker."""

    known: dict[str, object] = attrs.Factory(dict)
    _setup: Setup | None = None
    """The setup that `_fields` was made from: between two changes all heartbeats have the same fields."""
    _fields: dict[str, object] = attrs.Factory(dict)

    def forget(self) -> None:
        """After an error nothing is certain: all fields are sent again."""
        self.known.clear()

    def news(self, setup: Setup, owned: frozenset[Resource]) -> dict[str, object]:
        """The fields that the coordinator does not know."""
        if setup is not self._setup:
            self._setup, self._fields = setup, fields_of(setup, owned)
        known, fields = self.known, self._fields
        fields[OWNED] = owned
        if known == fields:
            return {}
        return {
            name: value
            for name, value in fields.items()
            if name not in known or (known[name] is not value and known[name] != value)
        }

    def doubt(self, said: Mapping[str, object]) -> None:
        """These fields are being sent: until they are confirmed, it is not certain what the coordinator knows."""
        for name in said:
            self.known.pop(name, None)

    def confirm(self, said: Mapping[str, object]) -> None:
        """The coordinator has taken these fields. One kind of assignor replaces the other (CG-15)."""
        for kind, other in (("server_assignor", "client_assignors"), ("client_assignors", "server_assignor")):
            if kind in said:
                self.known.pop(other, None)
        self.known.update(said)


def heartbeat(setup: Setup, epoch: int, said: Mapping[str, object], max_wait_ms: int) -> ConnectGroupHeartbeatRequest:
    """The request that carries these fields."""
    request = ConnectGroupHeartbeatRequest(setup.group_id, setup.member_id, epoch, max_wait_ms=max_wait_ms)
    for name, value in said.items():
        if name == OWNED:
            request.connectors_and_tasks = _entries(value)
        elif name == CONFIGURED:
            assert setup.configured is not None, "said because it is there"
            request.config_offset = setup.config_offset
            request.config_source = _source(setup)
            request.configured_connectors_and_tasks = _entries(setup.configured)
        elif name == "client_assignors":
            request.client_assignors = [
                Assignor(
                    each.name, each.minimum_version, each.maximum_version, each.reason, each.version, each.metadata
                )
                for each in setup.offers
            ]
        else:
            setattr(request, name, value)
    return request


def _source(setup: Setup) -> ConfigSource:
    if setup.of_topic:
        return ConfigSource.TOPIC
    return ConfigSource.FILE if setup.of_file else ConfigSource.UNSAID


def farewell(setup: Setup, epoch: int) -> ConnectGroupHeartbeatRequest:
    """The request by which a worker leaves: epoch -1, or -2 for a static member that will be back (CG-9, CG-28)."""
    return ConnectGroupHeartbeatRequest(
        group_id=setup.group_id, member_id=setup.member_id, member_epoch=epoch, instance_id=setup.instance_id
    )


def _entries(resources: object) -> list[ConnectorsAndTasks]:
    assert isinstance(resources, frozenset)
    return pack(resources, ConnectorsAndTasks, ConnectorTaskId)

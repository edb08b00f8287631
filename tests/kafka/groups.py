"""What does a coordinator tell of a group: kcoord, or Kafka behind it? As kafka-python's admin client sees it."""

from collections.abc import Mapping
from typing import Any

import attrs
import kafka as kafka_python

from tests.kafka.cluster import KafkaCluster
from tests.kafka.front import DIRECT
from tests.kafka.security import PLAINTEXT, ClientSecurity

Partitions = frozenset[tuple[str, int]]


@attrs.frozen
class GroupView:
    """A group as DescribeGroups shows it; `assigned` and `instances` by member id."""

    state: str
    protocol_type: str
    assigned: Mapping[str, Partitions]
    instances: Mapping[str, str | None]
    hosts: frozenset[str]


def describe(bootstrap: str, group: str, security: ClientSecurity = PLAINTEXT) -> GroupView:
    """The group by the coordinator that `bootstrap` leads to."""
    described = _ask(bootstrap, security, lambda admin: admin.describe_groups([group]))[group]
    members = described["members"]
    return GroupView(
        described["group_state"],
        described["protocol_type"],
        {member["member_id"]: _partitions(member["member_assignment"]) for member in members},
        {member["member_id"]: member["group_instance_id"] for member in members},
        frozenset(member["client_host"] for member in members),
    )


def listed(bootstrap: str, security: ClientSecurity = PLAINTEXT) -> list[tuple[str, str, str, str]]:
    """Every group's name, protocol type, state and type, as ListGroups shows them."""
    groups = _ask(bootstrap, security, lambda admin: admin.list_groups())
    return sorted((g["group_id"], g["protocol_type"], g["group_state"], g["group_type"]) for g in groups)


def check_kcoord_owns(cluster: KafkaCluster, *groups: str) -> None:
    """Kafka's own coordinator sees kcoord, and nobody else, in these groups (GW-11).

    A story through kcoord proves little if kcoord only passed it on.
    """
    if DIRECT:
        return
    for group in groups:
        upstream = describe(cluster.bootstrap, group, cluster.client())
        assert list(upstream.instances.values()) == ["kcoord"], upstream


def _ask(bootstrap: str, security: ClientSecurity, question: Any) -> Any:
    admin = kafka_python.KafkaAdminClient(bootstrap_servers=bootstrap, **security.python())
    try:
        return question(admin)
    finally:
        admin.close()


def _partitions(assignment: Any) -> Partitions:
    if not isinstance(assignment, Mapping):  # not the consumer protocol's
        return frozenset()
    return frozenset((at["topic"], number) for at in assignment["assigned_partitions"] for number in at["partitions"])

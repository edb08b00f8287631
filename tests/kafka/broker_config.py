"""Which settings does a broker of a test's Kafka have?

Every node is broker and controller. Three listeners: CLIENT, which tests and kcoord use and which has the cluster's
security, INTERNAL between brokers, CONTROLLER between controllers; the last two are plain text.
"""

from collections.abc import Mapping, Sequence

import attrs

from tests.kafka.security import ADMIN, PLAIN_MODULE, Certificates, Mechanism, Security, jaas, password_of


@attrs.frozen
class Node:
    """One broker: its id, and where each listener binds and how it is advertised (both "host:port")."""

    id: int
    port: int
    bind: Mapping[str, str]
    advertised: Mapping[str, str]


def quick(brokers: int) -> dict[str, object]:
    """Settings that make a small cluster start, rebalance and notice a death quickly."""
    copies = min(brokers, 3)
    return {
        "offsets.topic.num.partitions": 5,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.num.partitions": 5,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": min(copies, 2),
        "share.coordinator.state.topic.num.partitions": 2,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": min(copies, 2),
        "default.replication.factor": copies,
        "min.insync.replicas": min(copies, 2),
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "group.consumer.heartbeat.interval.ms": 1000,
        "group.consumer.min.heartbeat.interval.ms": 1000,
        "group.consumer.session.timeout.ms": 10000,
        "group.consumer.min.session.timeout.ms": 10000,
        "broker.heartbeat.interval.ms": 500,
        "broker.session.timeout.ms": 3000,
        "metadata.max.idle.interval.ms": 5000,  # else there is an empty record twice a second
        "num.network.threads": 2,
        "num.io.threads": 4,
        "log.cleaner.dedupe.buffer.size": 4 * 1024 * 1024,
        "transaction.partition.verification.enable": "true",
    }


def broker_properties(
    node: Node,
    nodes: Sequence[Node],
    security: Security,
    *,
    acl: bool,
    users: Sequence[str],
    certificates: Certificates | None,
    overrides: Mapping[str, object],
) -> dict[str, object]:
    """All of a broker's settings but where its data lies."""

    def addresses(where: Mapping[str, str]) -> str:
        return ",".join(f"{name}://{address}" for name, address in where.items())

    properties: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": node.id,
        "controller.quorum.voters": ",".join(f"{other.id}@{other.advertised['CONTROLLER']}" for other in nodes),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "INTERNAL",
        "listeners": addresses(node.bind),
        "advertised.listeners": addresses(node.advertised),
        "listener.security.protocol.map": f"CLIENT:{security.value},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
        **quick(len(nodes)),
    }
    if security is Security.SASL_PLAINTEXT:
        listener = "listener.name.client"
        passwords = {f"user_{user}": password_of(user) for user in [ADMIN, *users]}
        properties["sasl.enabled.mechanisms"] = ",".join(mechanism.value for mechanism in Mechanism)
        properties[f"{listener}.plain.sasl.jaas.config"] = jaas(PLAIN_MODULE, **passwords)
        for scram in (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512):
            properties[f"{listener}.{scram.value.lower()}.sasl.jaas.config"] = jaas(
                "org.apache.kafka.common.security.scram.ScramLoginModule"
            )
    if certificates is not None:
        properties["listener.name.client.ssl.keystore.type"] = "PEM"
        properties["listener.name.client.ssl.keystore.location"] = certificates.server
    if acl:
        properties["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        properties["super.users"] = f"User:{ADMIN};User:ANONYMOUS"
    return {**properties, **overrides}

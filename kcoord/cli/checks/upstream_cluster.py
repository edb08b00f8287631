"""The cluster behind kcoord: whether it is as the settings say.

It must be reachable, with or without TLS and a login as set, new enough, and neither this kcoord nor another one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs

from kcoord.address import Address
from kcoord.cli.checks.finding import Finding, fine, note, problem
from kcoord.client import Broker, ClientError, Connection, Security
from kcoord.client.broker_probe import ANSWER_S, Probed, probe
from kcoord.client.kafka_release import release_of
from kcoord.protocol.messages import MetadataRequest, MetadataResponse
from kcoord.server.startup.served_groups import COULD_SERVE_CONSUMERS, could_serve_consumers
from kcoord.server.startup.upstream_watch import expectation, is_own_address
from kcoord.settings import Settings


@attrs.define
class Seen:
    """What the check has learned about the cluster."""

    brokers: list[Broker] = attrs.Factory(list)
    cluster_id: str = ""
    """The id that the first address gave."""
    answers: list[Probed] = attrs.Factory(list)
    """What was found at the addresses that kcoord can work with."""


async def check_cluster(settings: Settings, security: Security, seen: Seen) -> AsyncIterator[Finding]:
    """Check each address of `upstream`, and each broker that the first of them names. `security`: how kcoord connects,
    with the login of `--command-config` if there is one.
    """
    for address in settings.upstream:
        if is_own_address(settings, address):
            yield problem(
                "upstream", f"{_text(address)} is where kcoord listens: give the addresses of the cluster's brokers"
            )
            continue
        probed = await probe(address, security.tls, expectation(settings))
        if probed.problem:
            yield problem("upstream", probed.problem)
        else:
            seen.answers.append(probed)
            yield await _ask(address, settings, security, probed, seen)
    for broker in seen.brokers:
        yield await _check_broker(broker, settings, security)
    known = any(each.has_consumer_groups for each in seen.answers)
    if seen.answers and could_serve_consumers(settings, has_consumer_groups=known):
        yield note("upstream", COULD_SERVE_CONSUMERS)


async def _ask(address: Address, settings: Settings, security: Security, probed: Probed, seen: Seen) -> Finding:
    if needs_login(settings, security):
        return fine("upstream", f"{_text(address)} responds, and speaks like Apache Kafka {probed.release}")
    if security.mechanism is not None and not expectation(settings).login:
        return problem(
            "upstream", f"--command-config has a login, but {_text(address)} accepts none: leave out --command-config"
        )
    try:
        connection = await Connection.open(*address, security, ANSWER_S)
        try:
            told = await connection.send(MetadataRequest(topics=[]), MetadataResponse)
        finally:
            await connection.close()
    except ClientError as error:
        return problem("upstream", str(error))
    cluster_id = told.cluster_id or "without an id"
    seen.cluster_id = seen.cluster_id or cluster_id
    if cluster_id != seen.cluster_id:
        return problem(
            "upstream",
            f"{_text(address)} belongs to cluster {cluster_id}, but the address before it to cluster "
            f"{seen.cluster_id}: name brokers of one cluster",
        )
    brokers = [Broker(each.node_id, each.host, each.port) for each in told.brokers]
    seen.brokers = seen.brokers or sorted(brokers, key=lambda each: each.node_id)
    several = "1 broker" if len(brokers) == 1 else f"{len(brokers)} brokers"
    return fine("upstream", f"{_text(address)} responds: cluster {cluster_id}, {several}")


async def _check_broker(broker: Broker, settings: Settings, security: Security) -> Finding:
    """Check the address that the cluster gives for a broker: kcoord connects to each broker by it."""
    where = f"broker {broker.node_id} at {broker.host}:{broker.port}"
    if is_own_address(settings, (broker.host, broker.port)):
        return problem(
            "brokers",
            f"{where} would be kcoord itself: the broker's advertised.listeners must lead to the broker",
        )
    try:
        connection = await Connection.open(broker.host, broker.port, security, ANSWER_S)
    except ClientError as error:
        return problem(
            "brokers",
            f"broker {broker.node_id}: {error}. kcoord connects to the addresses that brokers give in their "
            "advertised.listeners",
        )
    release = release_of(connection.versions, connection.features)
    await connection.close()
    return fine("brokers", f"{where} can be reached, and speaks like Apache Kafka {release}")


def needs_login(settings: Settings, security: Security) -> bool:
    """Whether nothing more can be asked: clients must log in there, and no login was given."""
    return expectation(settings).login and security.mechanism is None


def about_login(settings: Settings, security: Security) -> Sequence[Finding]:
    """A note about what is not checked without a login."""
    if not needs_login(settings, security):
        return []
    return [
        note(
            "upstream",
            "clients log in with their own credentials: give the properties of one client in --command-config, "
            "otherwise brokers, groups and rights are not checked",
        )
    ]


def _text(address: Address) -> str:
    return f"{address[0]}:{address[1]}"

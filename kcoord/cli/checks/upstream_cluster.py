"""Is the cluster behind kcoord what its settings say? Reachable, by TLS or not, with a login or not, new enough, and no
kcoord itself.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence

import attrs

from kcoord.address import Address
from kcoord.cli.checks.finding import Finding, fine, note, problem
from kcoord.cli.checks.local_machine import LOOPBACK
from kcoord.client import Broker, ClientError, Connection, Security
from kcoord.protocol.messages import (
    OWN_APIS,
    JoinGroupRequest,
    MetadataRequest,
    MetadataResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kcoord.settings import WILDCARD_HOSTS, Settings

ANSWER_S = 5.0
STATIC_JOIN = 5
"""The version of JoinGroup with which kcoord takes groups: Kafka 2.3 (KIP-345)."""
PROTOCOL = "upstream.security.protocol"


@attrs.define
class Seen:
    """What is known of the cluster."""

    brokers: list[Broker] = attrs.Factory(list)


def is_own_address(settings: Settings, address: Address) -> bool:
    """Whether kcoord itself would listen there."""
    own = {settings.listen, *([settings.advertise] if settings.advertise is not None else [])}
    host, port = address
    here = host in LOOPBACK and port == settings.listen[1] and settings.listen[0] in (*LOOPBACK, *WILDCARD_HOSTS)
    return address in own or here


async def check_cluster(settings: Settings, security: Security, seen: Seen) -> AsyncIterator[Finding]:
    """Look at each address of `upstream`, and at each broker that the first of them tells of."""
    for address in settings.upstream:
        if is_own_address(settings, address):
            yield problem("upstream", f"{_text(address)} is where kcoord listens: name the cluster's brokers")
            continue
        try:
            connection = await Connection.open(*address, security, ANSWER_S)
        except ClientError as error:
            yield problem("upstream", f"{error}{await _why(address, security)}")
            continue
        try:
            found = await _ask(connection, settings, address, security, seen)
        finally:
            await connection.close()
        yield found
    for broker in seen.brokers:
        yield await _check_broker(broker, security)


async def _ask(connection: Connection, settings: Settings, address: Address, security: Security, seen: Seen) -> Finding:
    if any(connection.highest(key) is not None for key in OWN_APIS):
        return problem("upstream", f"{_text(address)} is a kcoord: name the brokers of the cluster behind it")
    if needs_login(settings, security):
        return fine("upstream", f"{_text(address)} answers")
    try:
        told = await connection.send(MetadataRequest(topics=[]), MetadataResponse)
    except ClientError as error:
        return problem("upstream", f"{error}{await _wants_login(address, security)}")
    brokers = [Broker(each.node_id, each.host, each.port) for each in told.brokers]
    seen.brokers = seen.brokers or sorted(brokers, key=lambda each: each.node_id)
    several = "1 broker" if len(brokers) == 1 else f"{len(brokers)} brokers"
    return fine("upstream", f"{_text(address)} answers: cluster {told.cluster_id or 'without an id'}, {several}")


async def _check_broker(broker: Broker, security: Security) -> Finding:
    """kcoord connects to each broker by the address that the cluster tells."""
    where = f"broker {broker.node_id} at {broker.host}:{broker.port}"
    try:
        connection = await Connection.open(broker.host, broker.port, security, ANSWER_S)
    except ClientError as error:
        return problem("brokers", f"broker {broker.node_id}: {error}")
    try:
        highest = connection.highest(JoinGroupRequest.API_KEY)
    finally:
        await connection.close()
    if highest is None or highest < STATIC_JOIN:
        return problem("brokers", f"{where} is too old for groups to be taken: Kafka 2.3 is the first that will do")
    return fine("brokers", f"{where} can be reached, and is new enough")


async def _why(address: Address, security: Security) -> str:
    """Whether it is TLS where plaintext was expected, or the other way round."""
    if security.tls is None and await _speaks_tls(address):
        return f". It speaks TLS: set {PROTOCOL} to SSL, or to SASL_SSL"
    if security.tls is not None and await _speaks_plaintext(address):
        return f". It speaks no TLS: set {PROTOCOL} to PLAINTEXT, or to SASL_PLAINTEXT"
    return ""


async def _speaks_tls(address: Address) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(*address, ssl=context)
    except ssl.SSLError as error:
        return "CERTIFICATE_REQUIRED" in str(error.reason)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _speaks_plaintext(address: Address) -> bool:
    try:
        connection = await Connection.open(*address, Security(), ANSWER_S)
    except ClientError:
        return False
    await connection.close()
    return True


async def _wants_login(address: Address, security: Security) -> str:
    """Whether the listener takes nobody without a login."""
    if security.mechanism is not None:
        return ""
    try:
        connection = await Connection.open(*address, attrs.evolve(security, mechanism=None), ANSWER_S)
    except ClientError:
        return ""
    try:
        told = await connection.send(SaslHandshakeRequest(mechanism="?"), SaslHandshakeResponse)
    except ClientError:
        return ""
    finally:
        await connection.close()
    protocol = "SASL_SSL" if security.tls is not None else "SASL_PLAINTEXT"
    if not told.mechanisms:
        return ""
    return (
        f". It wants a login ({', '.join(told.mechanisms)}): set {PROTOCOL} to {protocol}, and give a client's "
        "properties in --command-config"
    )


def needs_login(settings: Settings, security: Security) -> bool:
    """Whether nothing more can be asked: clients log in there, and nobody has said how."""
    return settings.upstream_security_protocol.startswith("SASL_") and security.mechanism is None


def about_login(settings: Settings, security: Security) -> Sequence[Finding]:
    """What --command-config says beside what the settings say."""
    expected = settings.upstream_security_protocol
    if needs_login(settings, security):
        return [note("upstream", "clients log in by themselves: give one's properties in --command-config, or brokers "
                                 "and groups are not looked at")]  # fmt: skip
    if not expected.startswith("SASL_") and security.mechanism is not None:
        return [problem("upstream", f"--command-config logs in, and {PROTOCOL} is {expected}: clients cannot log in")]
    return []


def _text(address: Address) -> str:
    return f"{address[0]}:{address[1]}"

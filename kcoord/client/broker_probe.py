"""The probe of an address: is it a Kafka broker, a kcoord or something else; TLS or plaintext; SASL or not?

The probe changes nothing there and does not log in. A broker tells its API versions to every client that connects, and
names its SASL mechanisms to a client that asks for one that does not exist.
"""

import asyncio
import ssl

import attrs

from kcoord.address import Address
from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError
from kcoord.client.kafka_release import OLDEST, release_of
from kcoord.client.security import Security
from kcoord.protocol.messages import (
    OWN_APIS,
    ConsumerGroupHeartbeatRequest,
    JoinGroupRequest,
    MetadataRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

ANSWER_S = 5.0
STATIC_JOIN = 5
"""The version of JoinGroup that kcoord needs to take groups (KIP-345)."""
NO_SUCH_MECHANISM = "KCOORD-ASKS-WHICH"
"""A SASL mechanism that no broker has, so that the broker names those that it has. It appears in the broker's log."""


@attrs.frozen
class Expectation:
    """What a setting says about the listener."""

    setting: str
    """The setting's name, for the advice in a problem's text."""
    value: str
    """PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."""

    @property
    def login(self) -> bool:
        """Whether clients log in (SASL)."""
        return self.value.startswith("SASL_")

    def but(self, *, tls: bool, login: bool | None = None) -> str:
        """The end of a problem's text: the setting says something else, and what to set. `login` None: it is not known
        whether clients log in.
        """
        protocol = "SSL" if tls else "PLAINTEXT"
        fits = f"SASL_{protocol}" if login or (login is None and self.login) else protocol
        unless = f", or to SASL_{protocol} if clients log in there" if login is None and not self.login else ""
        return f"and {self.setting} is {self.value}: set it to {fits}{unless}"


@attrs.frozen
class Probed:
    """The result of a probe."""

    problem: str = ""
    """Why kcoord cannot work with the address and what to do, in one line; empty if it can."""
    release: str = ""
    """The release of Apache Kafka, as far as the broker's answers show it (`kafka_release.py`)."""
    is_reached: bool = True
    """Whether the address accepted a connection."""
    has_consumer_groups: bool = False
    """Whether it knows consumer groups of the new protocol (KIP-848)."""


async def probe(address: Address, tls: ssl.SSLContext | None, expected: Expectation) -> Probed:
    """Probe an address in the way in which kcoord would connect to it."""
    where = f"{address[0]}:{address[1]}"
    security = Security(tls)
    try:
        connection = await Connection.open(*address, security, ANSWER_S)
    except ClientError as error:
        return await _unusable(address, security, expected, error)
    try:
        return await _judge(where, connection, security, expected)
    except ClientError as error:
        return Probed(f"{error}. Name brokers of a Kafka cluster")
    finally:
        await connection.close()


async def _judge(where: str, connection: Connection, security: Security, expected: Expectation) -> Probed:
    if any(connection.highest(key) is not None for key in OWN_APIS):
        return Probed(f"{where} is a kcoord: name the brokers of the cluster behind it")
    if not connection.serves(MetadataRequest) and not connection.serves(JoinGroupRequest):
        return Probed(
            f"{where} speaks Kafka's protocol, and is no broker: is that a listener for controllers? Name the listener "
            "that clients connect to"
        )
    highest = connection.highest(JoinGroupRequest.API_KEY)
    if highest is None or highest < STATIC_JOIN:
        return Probed(
            f"{where} is too old for kcoord to take groups there: Apache Kafka {OLDEST} is the first that will do"
        )
    if not connection.keeps_data:
        return Probed(f"{where} keeps no data, as a kcoord that runs alone: name brokers of a Kafka cluster")
    mechanisms = await _logins(connection)
    if mechanisms and not expected.login:
        told = expected.but(tls=security.tls is not None, login=True)
        return Probed(f"{where} wants a login ({', '.join(sorted(mechanisms))}), {told}")
    if expected.login and not mechanisms:
        return Probed(f"{where} takes no logins, {expected.but(tls=security.tls is not None, login=False)}")
    return Probed(
        release=release_of(connection.versions, connection.features),
        has_consumer_groups=connection.serves(ConsumerGroupHeartbeatRequest),
    )


async def _unusable(address: Address, security: Security, expected: Expectation, error: ClientError) -> Probed:
    """Why the address does not answer: it speaks TLS instead of plaintext, plaintext instead of TLS, or not Kafka at
    all.
    """
    where = f"{address[0]}:{address[1]}"
    is_reached = await _takes_connections(address)
    if not is_reached:
        return Probed(str(error), is_reached=False)
    if security.tls is None and await _speaks_tls(address):
        return Probed(f"{where} speaks TLS, {expected.but(tls=True)}")
    if security.tls is None:
        said = str(error).removeprefix(f"{where}: ")
        return Probed(f"{where} does not answer as a Kafka broker: {said}. Name brokers of a Kafka cluster")
    if await _speaks_plaintext(address):
        return Probed(f"{where} speaks no TLS, {expected.but(tls=False)}")
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        authorities = expected.setting.replace("security.protocol", "ssl.ca.location")
        return Probed(f"{error}. Name it as its certificate does, and its authority's PEM file in {authorities}")
    return Probed(f"{error}. Name brokers of a Kafka cluster, and a port of theirs that speaks TLS")


async def _takes_connections(address: Address) -> bool:
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(*address)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    return True


async def _speaks_tls(address: Address) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(*address, ssl=context)
    except ssl.SSLError as error:
        return "ALERT" in str(error.reason) or "CERTIFICATE_REQUIRED" in str(error.reason)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    return True


async def _speaks_plaintext(address: Address) -> bool:
    try:
        connection = await Connection.open(*address, Security(), ANSWER_S)
    except ClientError:
        return False
    await connection.close()
    return True


async def _logins(connection: Connection) -> list[str]:
    """The SASL mechanisms of the listener; none if clients do not log in there."""
    if not connection.serves(SaslHandshakeRequest):
        return []
    told = await connection.send(SaslHandshakeRequest(mechanism=NO_SUCH_MECHANISM), SaslHandshakeResponse)
    return list(told.mechanisms)

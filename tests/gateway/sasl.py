"""SASL step by step, as a scripted client does it."""

import struct

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import SaslAuthenticateRequest, SaslHandshakeRequest
from tests.gateway.scripted import ask
from tests.kafka.security import password_of
from tests.server.harness import Client


def plain(user: str) -> bytes:
    """The only token of SASL PLAIN."""
    return f"\0{user}\0{password_of(user)}".encode()


async def log_in(client: Client, user: str, version: int = 2) -> int:
    """PLAIN by SaslHandshake v1; the session's lifetime in ms."""
    await begin(client)
    return await finish(client, plain(user), version)


async def begin(client: Client, mechanism: str = "PLAIN", version: int = 1) -> None:
    """SaslHandshake: the exchange is open."""
    answer = await ask(client, SaslHandshakeRequest(mechanism=mechanism), version)
    assert ErrorCode(answer.error_code) == ErrorCode.NONE


async def finish(client: Client, token: bytes, version: int = 2) -> int:
    """The last SaslAuthenticate; the session's lifetime in ms."""
    answer = await ask(client, SaslAuthenticateRequest(auth_bytes=token), version)
    assert ErrorCode(answer.error_code) == ErrorCode.NONE, answer.error_message
    lifetime: int = answer.session_lifetime_ms
    return lifetime


async def send_raw(client: Client, token: bytes) -> bytes:
    """A token without a header, and what comes back (SaslHandshake v0)."""
    client.writer.write(struct.pack(">i", len(token)) + token)
    return await client.read_frame()

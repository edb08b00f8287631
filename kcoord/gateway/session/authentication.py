"""SASL exchanges that pass through kcoord, and the proof that upstream knows the client (GW-5).

`sasl.py` keeps the phase of a connection. If the exchange itself does not show that it succeeded, kcoord asks upstream
for Metadata without topics. Upstream answers that only to a client that it knows; the request needs no other right and
is small. An error names no brokers.
"""

from __future__ import annotations

import asyncio

from kcoord.gateway.session.connection_context import PassingSession
from kcoord.gateway.session.sasl import SaslPhase
from kcoord.gateway.session.upstream import Expected, UpstreamLost
from kcoord.protocol.frame import decode_response_header
from kcoord.protocol.messages import MetadataRequest, MetadataResponse, SaslAuthenticateResponse, SaslHandshakeRequest
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.undecoded_call import Call

__all__ = ["answered", "begin", "ordinary_request", "proved", "raw_token"]

SIZE_BYTES = 4
NO_TOPICS_FROM = 1
"""The first version of Metadata that can ask for no topics."""


def begin(session: PassingSession, call: Call) -> None:
    """The client begins an exchange, its first or a later one. Earlier proof no longer counts. Raises DecodeError."""
    assert session.sasl is not None
    version = call.header.api_version
    request = SaslHandshakeRequest.decode(call.frame, version, call.body_pos)
    session.sasl.begin(request.mechanism, version)
    session.client.forget_answers()
    if session.upstream is not None:
        session.upstream.let_own(False)
        session.upstream.raw_tokens = version == 0
    session.raw_frames = session.sasl.raw_tokens_left > 0
    session.pass_on(call)


def raw_token(session: PassingSession) -> None:
    """The client sends a token without a header."""
    if session.sasl is not None:
        session.sasl.raw_token()
        session.raw_frames = session.sasl.raw_tokens_left > 0


def ordinary_request(session: PassingSession) -> None:
    """The client sends a request that belongs after a SASL exchange."""
    sasl = session.sasl
    assert sasl is not None
    if not sasl.exchange_open:
        return
    sasl.ordinary_request()
    if session.upstream is not None:
        session.own_may_go(session.upstream)
    if sasl.may_ask and not sasl.proved:
        session.proving = session.gateway.spawn(_prove(session, sasl))


def answered(session: PassingSession, owed: Expected, frame: bytes) -> None:
    """Read a response to SaslAuthenticate and send it on to the client. Raises DecodeError."""
    assert session.sasl is not None
    body_pos = decode_response_header(owed.api_key, owed.api_version, frame)[1]
    response = SaslAuthenticateResponse.decode(frame, owed.api_version, body_pos)
    now_ms = session.gateway.now_ms()
    session.sasl.round_answered(response.error_code, response.auth_bytes, response.session_lifetime_ms, now_ms)
    session.client.authenticated |= session.sasl.proved
    session.client.send(len(frame).to_bytes(SIZE_BYTES, "big") + frame)
    if session.upstream is not None:
        session.own_may_go(session.upstream)


async def proved(session: PassingSession) -> None:
    """Wait for upstream's proof of who the client is, if upstream uses SASL. Raises UpstreamLost without that proof."""
    if session.proving is not None:
        await asyncio.wait({session.proving})
    if not session.is_known:
        raise UpstreamLost("the client has not proved to upstream who it is")


async def _prove(session: PassingSession, sasl: SaslPhase) -> None:
    """Ask upstream for Metadata without topics, and note in `sasl` whether the answer is a proof."""
    try:
        version = await session.version(MetadataRequest)
        if version is None or version < NO_TOPICS_FROM:
            return
        answer = await session.ask(MetadataRequest(topics=[]), version)
    except (UpstreamLost, DecodeError):
        return  # `proved` then finds no proof and raises UpstreamLost
    assert isinstance(answer, MetadataResponse)
    sasl.proved = bool(answer.brokers) and not sasl.exchange_open
    session.client.authenticated |= sasl.proved

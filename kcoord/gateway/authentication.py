"""SASL exchanges as they pass, and the proof that upstream knows the client (GW-5)

`sasl.py` says where a connection stands. Where the exchange itself does not tell that it has succeeded, upstream is
asked what it answers nobody whom it does not know: Metadata without topics, which needs no right beside that and is
small. An error has no brokers in it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcoord.gateway.sasl import SaslPhase
from kcoord.gateway.upstream import Expected, UpstreamLost
from kcoord.protocol.call import Call
from kcoord.protocol.frame import decode_response_header
from kcoord.protocol.messages import MetadataRequest, MetadataResponse, SaslAuthenticateResponse, SaslHandshakeRequest
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.leg import Leg

__all__ = ["answered", "begin", "ordinary_request", "proved", "raw_token"]

SIZE_BYTES = 4
NO_TOPICS_FROM = 1
"""The first version of Metadata that can be asked for no topics."""


def begin(leg: Leg, call: Call) -> None:
    """The client begins an exchange, its first one or anew: what was proved counts no more. Raises DecodeError."""
    assert leg.sasl is not None
    version = call.header.api_version
    request = SaslHandshakeRequest.decode(call.frame, version, call.body_pos)
    leg.sasl.begin(request.mechanism, version)
    leg.client.forget_answers()
    if leg.upstream is not None:
        leg.upstream.let_own(False)
        leg.upstream.raw_tokens = version == 0
    leg.raw_frames = leg.sasl.raw_tokens_left > 0
    leg.pass_on(call)


def raw_token(leg: Leg) -> None:
    """The client sends a token without a header."""
    if leg.sasl is not None:
        leg.sasl.raw_token()
        leg.raw_frames = leg.sasl.raw_tokens_left > 0


def ordinary_request(leg: Leg) -> None:
    """The client sends what only belongs behind an exchange."""
    sasl = leg.sasl
    assert sasl is not None
    if not sasl.exchange_open:
        return
    sasl.ordinary_request()
    if leg.upstream is not None:
        leg.own_may_go(leg.upstream)
    if sasl.may_ask and not sasl.proved:
        leg.proving = leg.gateway.spawn(_prove(leg, sasl))


def answered(leg: Leg, owed: Expected, frame: bytes) -> None:
    """A response to SaslAuthenticate: look at it and send it on. Raises DecodeError."""
    assert leg.sasl is not None
    body_pos = decode_response_header(owed.api_key, owed.api_version, frame)[1]
    response = SaslAuthenticateResponse.decode(frame, owed.api_version, body_pos)
    now_ms = leg.gateway.now_ms()
    leg.sasl.round_answered(response.error_code, response.auth_bytes, response.session_lifetime_ms, now_ms)
    leg.client.authenticated |= leg.sasl.proved
    leg.client.send(len(frame).to_bytes(SIZE_BYTES, "big") + frame)
    if leg.upstream is not None:
        leg.own_may_go(leg.upstream)


async def proved(leg: Leg) -> None:
    """Wait until upstream has proved who the client is, where it asks for that. Raises UpstreamLost."""
    if leg.proving is not None:
        await asyncio.wait({leg.proving})
    if not leg.is_known:
        raise UpstreamLost("the client has not proved to upstream who it is")


async def _prove(leg: Leg, sasl: SaslPhase) -> None:
    """Ask, and note in `sasl` that upstream has answered."""
    try:
        version = await leg.version(MetadataRequest)
        if version is None or version < NO_TOPICS_FROM:
            return
        answer = await leg.ask(MetadataRequest(topics=[]), version)
    except (UpstreamLost, DecodeError):
        return  # whoever waits for it finds that nothing is proved
    assert isinstance(answer, MetadataResponse)
    sasl.proved = bool(answer.brokers) and not sasl.exchange_open
    leg.client.authenticated |= sasl.proved

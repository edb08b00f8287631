"""The SASL phase of one connection, as far as a proxy can tell.

kcoord passes the exchange on and takes no part in it. It must know three things (GW-5): whether it may send questions
of its own (brokers refuse everything but ApiVersions and SaslHandshake while an exchange is open, also when a client
authenticates again), which frames are raw tokens without a header (after SaslHandshake v0), and when the session ends.

Rules:

1. An exchange ends after the mechanism's number of rounds. Where that number is not fixed (GSSAPI), it ends with the
   first request that does not belong to SASL. An OAUTHBEARER answer with a token is a refusal, whatever its error code.
2. The end of an exchange is not yet a success: upstream must prove it. If the mechanism has a fixed number of rounds,
   upstream's answers to all rounds are the proof. After raw tokens, or without a fixed number, the proof is upstream's
   first answer to a question that it answers only to clients that it knows (`authentication.py` asks).
3. From the first frame of an exchange to that proof nothing that was known before counts: a client that authenticates
   again and fails must not keep its earlier identity.
"""

from __future__ import annotations

import attrs

from kcoord.protocol.errors import ErrorCode

__all__ = ["SaslPhase"]

ROUNDS = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
"""SaslAuthenticate requests in a successful exchange."""
SAYS_WHY = frozenset({"OAUTHBEARER"})
"""Mechanisms that refuse with a token that gives the reason, and wait for the client's last message (RFC 7628)."""
RAW_TOKENS = {**ROUNDS, "GSSAPI": 3}
"""Tokens that a client sends after SaslHandshake v0. They have no header, so no API key shows where the exchange ends.
"""


@attrs.define(slots=True)
class SaslPhase:
    """The phase of one connection."""

    authenticated: bool = False
    """Whether an exchange is over, by what the client has sent."""
    proved: bool = False
    """Whether upstream has proved that the last exchange succeeded."""
    exchange_open: bool = False
    raw_tokens_left: int = 0
    """How many of the client's next frames are tokens without a header."""
    expires_ms: int | None = None
    """When the session ends (monotonic ms), or None."""
    _mechanism: str = ""
    _rounds_left: int | None = None
    _rounds_done: int = 0

    @property
    def may_ask(self) -> bool:
        """Whether kcoord may send a question of its own now."""
        return self.authenticated and not self.exchange_open

    def holds(self, now_ms: int) -> bool:
        """Whether upstream knows this client now, as far as kcoord can tell."""
        return self.proved and self.may_ask and not self.is_expired(now_ms)

    def begin(self, mechanism: str, version: int) -> None:
        """The client asked for `mechanism` with a SaslHandshake of that version."""
        self.exchange_open = True
        self.proved = False
        self._mechanism = mechanism
        self._rounds_left = ROUNDS.get(mechanism)
        self._rounds_done = 0
        if version == 0:
            self.raw_tokens_left = RAW_TOKENS.get(mechanism, 1)

    def raw_token(self) -> None:
        """The client sends a token without a header."""
        self.raw_tokens_left -= 1
        self._rounds_done += 1

    def round_answered(self, error_code: int, token: bytes, lifetime_ms: int, now_ms: int) -> None:
        """Upstream answered a SaslAuthenticate with `token`."""
        if error_code != ErrorCode.NONE or (token and self._mechanism in SAYS_WHY):
            return
        self._rounds_done += 1
        self.expires_ms = now_ms + lifetime_ms if lifetime_ms > 0 else None
        if self._rounds_left is not None:
            self._rounds_left -= 1
            if self._rounds_left == 0:
                self._end()
                self.proved = True

    def ordinary_request(self) -> None:
        """The client sends a request that is neither SASL nor ApiVersions: it considers the exchange over."""
        if self.exchange_open and self._rounds_done:
            self._end()

    def is_expired(self, now_ms: int) -> bool:
        """Whether the session has ended and the client has not authenticated again."""
        return self.expires_ms is not None and now_ms >= self.expires_ms

    def _end(self) -> None:
        self.exchange_open = False
        self.authenticated = True

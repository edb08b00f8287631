"""The SASL phase of one connection, as far as somebody in the middle can tell.

kcoord passes the exchange on and takes no part in it. It must know three things (GW-5): whether questions of
its own may be sent (brokers refuse all but ApiVersions and SaslHandshake while an exchange is open, also when a client
authenticates anew), which frames are raw tokens without a header (after SaslHandshake v0), and when the session ends.

Rules:

1. The end of an exchange is told by the number of rounds that the mechanism has; where that is not fixed (GSSAPI), by
   the first request that is not SASL's. An answer to OAUTHBEARER that says something is a refusal, whatever its error.
2. That an exchange is over says nothing: it has *succeeded* when upstream has proved it. Its answers to all rounds of
   a mechanism that has so many do; after raw tokens, or where the rounds are not fixed, its first answer to a question
   that it answers nobody whom it does not know (`authentication.py` asks).
3. From the first frame of an exchange to that proof nothing counts that was known before: a client that authenticates
   anew and fails must not live on what it was.
"""

from __future__ import annotations

import attrs

from kcoord.protocol.errors import ErrorCode

__all__ = ["SaslPhase"]

ROUNDS = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
"""SaslAuthenticate requests in a successful exchange."""
SAYS_WHY = frozenset({"OAUTHBEARER"})
"""Mechanisms that refuse by a token that says why, and wait for the client's last word (RFC 7628)."""
RAW_TOKENS = {**ROUNDS, "GSSAPI": 3}
"""Tokens that a client sends after SaslHandshake v0: there is no request then that could end the exchange by its kind.
"""


@attrs.define(slots=True)
class SaslPhase:
    """The phase of one connection."""

    authenticated: bool = False
    """Whether an exchange is over, as far as the client says."""
    proved: bool = False
    """Whether upstream has proved that the last exchange has succeeded."""
    exchange_open: bool = False
    raw_tokens_left: int = 0
    """Frames from the client that are tokens without a header."""
    expires_ms: int | None = None
    """When the session ends (monotonic ms), or None."""
    _mechanism: str = ""
    _rounds_left: int | None = None
    _rounds_done: int = 0

    @property
    def may_ask(self) -> bool:
        """Whether a question of kcoord's own may be sent now."""
        return self.authenticated and not self.exchange_open

    def holds(self, now_ms: int) -> bool:
        """Whether upstream knows this client now, as far as can be known here."""
        return self.proved and self.may_ask and not self.is_expired(now_ms)

    def begin(self, mechanism: str, version: int) -> None:
        """The client asked for `mechanism` by SaslHandshake of that version."""
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
        """The client sends a request that is neither SASL's nor ApiVersions: for it the exchange is over."""
        if self.exchange_open and self._rounds_done:
            self._end()

    def is_expired(self, now_ms: int) -> bool:
        """Whether the session has ended without the client having authenticated anew."""
        return self.expires_ms is not None and now_ms >= self.expires_ms

    def _end(self) -> None:
        self.exchange_open = False
        self.authenticated = True

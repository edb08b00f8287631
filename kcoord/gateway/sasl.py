"""Where does one connection stand in SASL, as far as somebody in the middle can tell?

kcoord passes the exchange on and takes no part in it. It must know three things (gateway rule 5): whether questions of
its own may be sent (brokers refuse all but ApiVersions and SaslHandshake while an exchange is open, also when a client
authenticates anew), which frames are raw tokens without a header (after SaslHandshake v0), and when the session ends.

The end of an exchange is told by the number of rounds that the mechanism has; where that is not fixed (GSSAPI), by the
first request that is not SASL's. A client that lies about it gains nothing: no answer is given here before upstream has
answered a question on the same connection.
"""

from __future__ import annotations

import attrs

from kcoord.protocol.errors import ErrorCode

__all__ = ["SaslPhase"]

ROUNDS = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
"""SaslAuthenticate requests in a successful exchange."""
RAW_TOKENS = {**ROUNDS, "GSSAPI": 3}
"""Tokens that a client sends after SaslHandshake v0: there is no request then that could end the exchange by its kind.
"""


@attrs.define(slots=True)
class SaslPhase:
    """The phase of one connection."""

    authenticated: bool = False
    """Whether an exchange has succeeded; a later one that fails ends the connection, upstream sees to that."""
    exchange_open: bool = False
    raw_tokens_left: int = 0
    """Frames from the client that are tokens without a header."""
    expires_ms: int | None = None
    """When the session ends (monotonic ms), or None."""
    _rounds_left: int | None = None
    _rounds_done: int = 0

    @property
    def may_ask(self) -> bool:
        """Whether a question of kcoord's own may be sent now."""
        return self.authenticated and not self.exchange_open

    def begin(self, mechanism: str, version: int) -> None:
        """The client asked for `mechanism` by SaslHandshake of that version."""
        self.exchange_open = True
        self._rounds_left = ROUNDS.get(mechanism)
        self._rounds_done = 0
        if version == 0:
            self.raw_tokens_left = RAW_TOKENS.get(mechanism, 1)

    def raw_token(self) -> None:
        """The client sends a token without a header."""
        self.raw_tokens_left -= 1
        self._rounds_done += 1

    def round_answered(self, error_code: int, lifetime_ms: int, now_ms: int) -> None:
        """Upstream answered a SaslAuthenticate."""
        if error_code != ErrorCode.NONE:
            return
        self._rounds_done += 1
        self.expires_ms = now_ms + lifetime_ms if lifetime_ms > 0 else None
        if self._rounds_left is not None:
            self._rounds_left -= 1
            if self._rounds_left == 0:
                self._end()

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

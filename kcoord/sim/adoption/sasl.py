"""A cluster whose clients have to say who they are first: SASL PLAIN, with a password that everybody has.

Then kcoord has no connections of its own: everything that it asks goes over those of the members (AD-14).
"""

from __future__ import annotations

from kcoord.protocol.messages import (
    ApiVersionsRequest,
    Request,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kcoord.protocol.undecoded_call import Call
from kcoord.server.connections.connection import Connection
from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone import Standalone
from kcoord.server.standalone_nodes import OneNode

MECHANISM, TOKEN = "PLAIN", b"\0anybody\0secret"
LOGIN: tuple[type[Request], ...] = (SaslHandshakeRequest, SaslAuthenticateRequest)
BEFORE = frozenset({ApiVersionsRequest.API_KEY, *(each.API_KEY for each in LOGIN)})
"""What a client may send before it has said who it is."""


class SaslStandalone(Standalone):
    """The broker's handler: it answers a client once that has said who it is, and closes the connection before."""

    authenticated_at_once = False

    def __init__(self, coordinator: Coordinator, node: OneNode) -> None:
        super().__init__(coordinator, node)
        self._known: set[int] = set()
        """The numbers of the connections whose clients have said so."""
        self._own |= {SaslHandshakeRequest: self._handshake, SaslAuthenticateRequest: self._authenticate}
        self._served |= {each.API_KEY: each for each in LOGIN}

    def dispatch(self, connection: Connection, call: Call) -> None:
        """See Standalone."""
        if connection.serial not in self._known and call.header.api_key not in BEFORE:
            connection.close("it has not said who it is")
            return
        super().dispatch(connection, call)

    def _handshake(
        self, _connection: Connection, _request: SaslHandshakeRequest, _version: int
    ) -> SaslHandshakeResponse:
        return SaslHandshakeResponse(mechanisms=[MECHANISM])

    def _authenticate(
        self, connection: Connection, request: SaslAuthenticateRequest, _version: int
    ) -> SaslAuthenticateResponse:
        assert request.auth_bytes == TOKEN
        self._known.add(connection.serial)
        connection.authenticated = True
        return SaslAuthenticateResponse()

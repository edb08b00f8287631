"""Finding a group's coordinator: ask the given addresses, and connect to the broker that they name.

Each connection is a new one: a member belongs to its newest connection (CG-4).
"""

from __future__ import annotations

from collections.abc import Sequence

from kcoord.client.connection import Connection, error_name
from kcoord.client.errors import ClientError, Refused
from kcoord.client.security import Security
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

_GROUP_KEY = 0
_KEYS_FROM = 4
"""The first version of FindCoordinator in which a client names several keys (Kafka 3.0)."""
_FINAL = frozenset({ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.INVALID_GROUP_ID, ErrorCode.INVALID_REQUEST})


class Finder:
    """Finds one group's coordinator. `timeout` is in seconds, for each step."""

    def __init__(
        self,
        addresses: Sequence[tuple[str, int]],
        group_id: str,
        security: Security,
        client_id: str,
        timeout: float = 5.0,
    ) -> None:
        self._addresses = list(addresses)
        self._group_id = group_id
        self._security = security
        self._client_id = client_id
        self._timeout = timeout

    async def connect(self) -> Connection:
        """A new connection to the coordinator. Raises ClientError if no address answers, or none knows the coordinator;
        Refused if trying again will not help.
        """
        failure = ClientError("no address to connect to")
        for address in list(self._addresses):
            try:
                asked = await self._open(*address)
            except Refused:
                raise
            except ClientError as error:
                failure = error
                self._addresses.append(self._addresses.pop(0))  # asked last the next time
                continue
            return await self._follow(asked)
        raise failure

    async def _follow(self, asked: Connection) -> Connection:
        """Connect to the coordinator that this broker names."""
        try:
            found = await self._found(asked)
            if found is None or found.error_code:
                raise self._not_found(asked, found)
            if (found.host, found.port) == (asked.host, asked.port):
                return asked
        except BaseException:
            await asked.close()
            raise
        await asked.close()
        return await self._open(found.host, found.port)

    async def _found(self, asked: Connection) -> Coordinator | None:
        """What this broker says of the coordinator; None: nothing."""
        if not asked.serves_version(FindCoordinatorRequest, _KEYS_FROM):
            request = FindCoordinatorRequest(key_type=_GROUP_KEY, key=self._group_id)
            told = await asked.send(request, FindCoordinatorResponse)
            return Coordinator(self._group_id, told.node_id, told.host, told.port, told.error_code)
        request = FindCoordinatorRequest(key_type=_GROUP_KEY, coordinator_keys=[self._group_id])
        response = await asked.send(request, FindCoordinatorResponse)
        return next((each for each in response.coordinators if each.key == self._group_id), None)

    def _not_found(self, asked: Connection, found: Coordinator | None) -> ClientError:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE if found is None else found.error_code
        said = f"{asked.host}:{asked.port} says of group {self._group_id}'s coordinator: {error_name(code)}"
        return Refused(said, code) if code in _FINAL else ClientError(said)

    async def _open(self, host: str, port: int) -> Connection:
        return await Connection.open(host, port, self._security, self._timeout, self._client_id)

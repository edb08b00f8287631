"""The connections of a command: lost ones are opened again, and an error says whether anything was changed.

A kcoord in front of a cluster answers ApiVersions while the cluster is away. It ends the connection if it is asked what
only the cluster knows. So a command can tell that kcoord is there and the cluster is not. A kcoord that was started
while the cluster is away ends every new connection at once. A command cannot tell it from other servers that do so.
"""

from enum import Enum, auto

import attrs

from kcoord.cli.calls.group_ownership import tells_owners
from kcoord.client import ClientError, Cluster, Connection
from kcoord.client.connection import R
from kcoord.protocol.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteGroupsRequest,
    DeleteTopicsRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    Request,
)

CHANGING = (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteGroupsRequest,
    DeleteTopicsRequest,
    IncrementalAlterConfigsRequest,
    OffsetCommitRequest,
)
"""The requests by which commands change something."""
CLUSTER_AWAY = (
    "; kcoord answers there, but the cluster behind it does not: try again when the brokers are back (kcoord's log "
    "says more)"
)
CLOSED = "it closed the connection"
"""The end of an error of `Connection`."""
PERHAPS_AWAY = ": a kcoord in front of a cluster does so while the cluster is away"
NOTHING_CHANGED = "; nothing was changed"
PERHAPS_CHANGED = "; it is not known whether the change was made"


class Sent(Enum):
    """What became of the changes that a command has sent."""

    NOTHING = auto()
    UNANSWERED = auto()
    """The answer to the last one has not come."""
    ANSWERED = auto()


@attrs.define(eq=False)
class CommandConnection(Connection):
    """A connection that knows whether it has ended, and what it has sent."""

    sent: Sent = attrs.field(default=Sent.NOTHING, init=False)

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended."""
        return self._receiving is None or self._receiving.done()

    @property
    def is_of_front(self) -> bool:
        """Whether the server is a kcoord in front of a cluster."""
        return tells_owners(self) and self.keeps_data

    async def send(self, request: Request, answer: type[R]) -> R:
        """See Connection."""
        is_change = isinstance(request, CHANGING) and not getattr(request, "validate_only", False)
        if is_change:
            self.sent = Sent.UNANSWERED
        response = await Connection.send(self, request, answer)
        if is_change:
            self.sent = Sent.ANSWERED
        return response


@attrs.define(eq=False)
class CommandCluster(Cluster):
    """As Cluster, for one command."""

    _opened: list[CommandConnection] = attrs.field(factory=list, init=False)
    """All connections, the ended ones too."""

    async def why(self, error: ClientError, changes: bool) -> str:
        """What to add to the error that ended the command: what is known about kcoord, the cluster and the change.

        `changes`: whether the command was to change something.
        """
        away = await self._about_cluster(error)
        if not changes or not (away or any(each.is_over for each in self._opened)):
            return away
        sent = {each.sent for each in self._opened}
        if Sent.UNANSWERED in sent:
            return away + PERHAPS_CHANGED
        return away + ("" if Sent.ANSWERED in sent else NOTHING_CHANGED)

    async def _about_cluster(self, error: ClientError) -> str:
        """That kcoord is there and the cluster behind it is not. Empty: nothing says so."""
        front = next((each for each in reversed(self._opened) if each.is_of_front), None)
        if front is None:
            return PERHAPS_AWAY if not self._opened and str(error).endswith(CLOSED) else ""
        try:
            connection = await self._connect(front.host, front.port)
        except ClientError as again:
            return PERHAPS_AWAY if str(error).endswith(CLOSED) and str(again).endswith(CLOSED) else ""
        try:
            await connection.send(MetadataRequest(topics=[]), MetadataResponse)
        except ClientError:
            return CLUSTER_AWAY
        return ""

    async def _connect(self, host: str, port: int) -> Connection:
        known = self._connections.get((host, port))
        if isinstance(known, CommandConnection) and known.is_over:
            await known.close()
            del self._connections[host, port]
        elif known is not None:
            return known
        opened = await CommandConnection.open(host, port, self.security, self.timeout)
        self._connections[host, port] = opened
        self._opened.append(opened)
        return opened

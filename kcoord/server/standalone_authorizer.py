"""Authorization of requests about groups in a kcoord without a cluster: which client may do what to a group.

Every request asks an `Authorizer` before it touches a group. Rules (CG-30; Kafka's own for the other APIs):

1. A request that is not allowed gets GROUP_AUTHORIZATION_FAILED and touches nothing. A request for several groups gets
   an answer for each; the part that is allowed is carried out.
2. Lists show only groups that the client may describe.
3. Authorized operations, if the client asks for them, are those that the authorizer allows.

In front of a cluster kcoord asks the cluster instead (`kcoord.gateway.ownership.access.rights`).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from collections.abc import Set as AbstractSet
from typing import Protocol

import attrs

from kcoord.group.acl_operation import AclOperation
from kcoord.group.api_handlers_and_rights import ALL_APIS
from kcoord.group.error_responses import refuse, refuse_config
from kcoord.group.group_configs import GROUP, named_twice
from kcoord.group.multi_group_requests import Gathering, empty_answer, split
from kcoord.group.state.step import CachedReply
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupDescribeResponse,
    ConsumerGroupDescribeResponse,
    DescribeConfigsRequest,
    DescribeGroupsResponse,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    ListGroupsResponse,
    Request,
    Response,
)

TOPIC = 2
"""The resource type of topics."""

Deliver = Callable[[Response, CachedReply | None], None]
Submit = Callable[[Request, Deliver], None]


class Client(Protocol):
    """The client that sent a request, as far as an authorizer may see it."""

    peer: str
    client_host: str


class Authorizer(Protocol):
    """Decides what clients may do. It must answer at once, because every request waits for it."""

    @property
    def holds_ms(self) -> int | None:
        """How long an answer holds, in ms; None: as long as the connection."""

    def allows(self, client: Client, operation: AclOperation, group_id: str) -> bool:
        """Whether `client` may do `operation` to the group."""


@attrs.frozen
class AllowAll:
    """Every client may do everything, as in a Kafka without an authorizer."""

    holds_ms: int | None = None

    def allows(self, client: Client, operation: AclOperation, group_id: str) -> bool:
        return True


NEEDED: dict[type[Request], AclOperation] = {row.request: row.right for row in ALL_APIS if row.right is not None}
"""The operation that each API needs on each group that it names. ListGroups needs none, and shows the groups that the
client may describe.
"""


def submit_allowed(authorizer: Authorizer, client: Client, request: Request, submit: Submit, deliver: Deliver) -> None:
    """Call `submit` with the part of `request` that `client` may do, and `deliver` with the answer to all of it."""
    if isinstance(request, ListGroupsRequest):
        submit(request, lambda response, _: deliver(_listed(authorizer, client, response), None))
        return
    needed = NEEDED[type(request)]
    parts = split(request)
    if parts is None:
        group_id: str = getattr(request, "group_id", "") or ""
        if authorizer.allows(client, needed, group_id):
            submit(request, deliver)
        else:
            deliver(refuse(request, ErrorCode.GROUP_AUTHORIZATION_FAILED), None)
        return
    described = _with_operations(authorizer, client, request, deliver)
    if all(authorizer.allows(client, needed, group_id) for group_id, _ in parts):
        submit(request, described)
        return
    gathering = Gathering(len(parts), lambda response: described(response, None))
    for at, (group_id, part) in enumerate(parts):
        if authorizer.allows(client, needed, group_id):
            submit(part, gathering.taker(at))
        else:
            gathering.taker(at)(refuse(part, ErrorCode.GROUP_AUTHORIZATION_FAILED), None)


def submit_allowed_configs(
    authorizer: Authorizer,
    client: Client,
    request: DescribeConfigsRequest | IncrementalAlterConfigsRequest,
    submit: Submit,
    deliver: Deliver,
    twice: AbstractSet[tuple[int, str]] = frozenset(),
    topics: Container[str] = (),
) -> None:
    """The same for requests about settings. Only groups have settings in a kcoord that runs alone: of its `topics` it
    says that they have none. `twice`: resources that are named more than once in the whole request, of which this one
    is a slice.
    """
    needed = NEEDED[type(request)]
    parts = split(request) or []
    if not parts:
        deliver(empty_answer(request), None)
        return
    alters = isinstance(request, IncrementalAlterConfigsRequest)
    twice = twice | named_twice(request) if alters else frozenset()
    gathering = Gathering(len(parts), lambda response: deliver(response, None))
    for at, (group_id, part) in enumerate(parts):
        take = gathering.taker(at)
        kind = request.resources[at].resource_type
        if kind == TOPIC and not alters and group_id in topics:
            take(refuse_config(part, ErrorCode.NONE, None), None)
        elif kind != GROUP:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if kind == TOPIC else ErrorCode.INVALID_REQUEST
            take(refuse_config(part, error, "a kcoord that runs alone has settings of groups only"), None)
        elif (kind, group_id) in twice:
            take(refuse_config(part, ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."), None)
        elif not authorizer.allows(client, needed, group_id):
            take(refuse(part, ErrorCode.GROUP_AUTHORIZATION_FAILED), None)
        else:
            submit(part, take)


def operations(authorizer: Authorizer, client: Client, group_id: str) -> int:
    """The operations that `client` may do on the group, as the bit field of Kafka's answers."""
    return sum(1 << each for each in AclOperation if authorizer.allows(client, each, group_id))


def _with_operations(authorizer: Authorizer, client: Client, request: Request, deliver: Deliver) -> Deliver:
    """A `deliver` that fills in the authorized operations if the request asks for them."""
    if not getattr(request, "include_authorized_operations", False):
        return deliver

    def fill_in(response: Response, cached: CachedReply | None) -> None:
        if isinstance(response, DescribeGroupsResponse | ConnectGroupDescribeResponse | ConsumerGroupDescribeResponse):
            for group in response.groups:
                if group.error_code == ErrorCode.NONE:
                    group.authorized_operations = operations(authorizer, client, group.group_id)
        deliver(response, cached)

    return fill_in


def _listed(authorizer: Authorizer, client: Client, response: Response) -> Response:
    assert isinstance(response, ListGroupsResponse)
    shown = [each for each in response.groups if authorizer.allows(client, AclOperation.DESCRIBE, each.group_id)]
    return attrs.evolve(response, groups=shown)

"""Error answers: the response that has only an error, for each API of the API table.

They are used where no handler runs: while a shard is loading, after it was dropped, and for a group that the client has
no right to. How such a response looks is in the API's row (`api_table`).
"""

from __future__ import annotations

from kcoord.group.api_handlers_and_rights import ALL_APIS, Refusal
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatResponse,
    DescribeConfigsResponse,
    IncrementalAlterConfigsResponse,
    Request,
    Response,
)

REFUSALS: dict[type[Request], Refusal] = {row.request: row.refusal for row in ALL_APIS}


def refuse(request: Request, error: ErrorCode) -> Response:
    """The answer to `request` that has `error` and nothing else. Raises KeyError for an API without a row."""
    return REFUSALS[type(request)](request, error)


def needs_new_connection(response: Response) -> bool:
    """Whether the client's connection must end after this answer. After a load a member must come by a new connection
    (CG-4). Java's consumer of the new protocol makes none by itself: it would ask again by this one until its session
    ends.
    """
    return isinstance(response, ConsumerGroupHeartbeatResponse) and response.error_code == ErrorCode.NOT_COORDINATOR


def refuse_config(request: Request, error: ErrorCode, reason: str | None) -> Response:
    """The answer that has only an error and its reason, for all resources that `request` names."""
    response = refuse(request, error)
    if isinstance(response, DescribeConfigsResponse):
        for result in response.results:
            result.error_message = reason
    elif isinstance(response, IncrementalAlterConfigsResponse):
        for answer in response.responses:
            answer.error_message = reason
    return response

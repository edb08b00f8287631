"""The requests of `kcoord topics`: Metadata, CreateTopics, CreatePartitions and DeleteTopics.

A change goes to the broker that answers first. Any instance of a kcoord without a cluster carries it out, and so does
any broker of a newer cluster. A broker of an older cluster says that it is not the controller, which is asked then.
"""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from kcoord.cli.output.resource_texts import counted
from kcoord.cli.output.terminal_output import table_of, written
from kcoord.client import Broker, ClientError, Cluster, Connection
from kcoord.client.connection import error_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.create_partitions_request import CreatePartitionsTopic
from kcoord.protocol.generated.create_topics_request import CreatableTopic
from kcoord.protocol.generated.delete_topics_request import DeleteTopicState
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    Request,
    Response,
)

TIMEOUT_MS = 8_000
"""How long a broker may take to carry out a change. A command waits a little longer for its answer."""
PATIENCE_S, PAUSE_S = 15.0, 0.2
"""How long a command tries again while nobody can carry out the change, and the pause between two attempts."""
BY_ITSELF = -1
"""The number of replicas that the cluster gives a topic by itself."""
_NAMED_APART_FROM = 6
"""The first version of DeleteTopics in which each topic is a struct."""
_PARTITIONS = ("partition", "partitions")
_RESULTS: dict[type[Response], str] = {
    CreateTopicsResponse: "topics",
    CreatePartitionsResponse: "results",
    DeleteTopicsResponse: "responses",
}
"""Where each response has its results."""
_PASSING = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
)
"""The errors of a kcoord without a cluster while it starts, or while another instance takes the topics over."""


@attrs.frozen
class Topic:
    """A topic of the cluster."""

    name: str
    id: bytes
    """Zeros: brokers before Kafka 2.8 know no ids."""
    leaders: dict[int, int]
    """The broker that leads each partition; -1: none does now."""

    def as_json(self) -> dict[str, Any]:
        return {"topic": self.name, "partitions": len(self.leaders), "id": self.told_id}

    @property
    def told_id(self) -> str | None:
        """The id as Kafka's tools show it; None: it has none."""
        return urlsafe_b64encode(self.id).decode().rstrip("=") if any(self.id) else None


async def list_topics(cluster: Cluster) -> list[Topic]:
    """All topics, sorted by name. Raises ClientError."""
    return sorted(await _topics(cluster, None), key=lambda each: each.name)


async def topics_named(cluster: Cluster, names: Sequence[str]) -> list[Topic]:
    """These topics. Raises ClientError, also if one does not exist."""
    return await _topics(cluster, names)


async def _topics(cluster: Cluster, names: Sequence[str] | None) -> list[Topic]:
    wanted = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    connection = await cluster.any()
    response = await connection.send(MetadataRequest(wanted, allow_auto_topic_creation=False), MetadataResponse)
    for each in response.topics:
        if each.error_code:
            raise ClientError(f"{each.name}: {_why(each.error_code)}")
    return [
        Topic(each.name or "", bytes(each.topic_id), {part.partition_index: part.leader_id for part in each.partitions})
        for each in response.topics
    ]


def table(topics: Sequence[Topic]) -> str:
    """A table of topics."""
    if not topics:
        return "There are no topics.\n"
    rows = [(each.name, str(len(each.leaders)), each.told_id or "-") for each in topics]
    return written(table_of(("TOPIC", "PARTITIONS", "ID"), rows))


async def add(cluster: Cluster, name: str, partitions: int) -> str:
    """Create a topic. Returns a line about it. Raises ClientError."""
    request = CreateTopicsRequest([CreatableTopic(name, partitions, BY_ITSELF)], timeout_ms=TIMEOUT_MS)
    await _change(cluster, name, "created", lambda _: request, CreateTopicsResponse)
    return f"{name}: created, with {counted(partitions, *_PARTITIONS)}\n"


async def grow(cluster: Cluster, name: str, partitions: int) -> str:
    """Give a topic more partitions. Returns a line about it. Raises ClientError."""
    request = CreatePartitionsRequest([CreatePartitionsTopic(name, partitions, None)], TIMEOUT_MS)
    await _change(cluster, name, "changed", lambda _: request, CreatePartitionsResponse)
    return f"{name}: has {counted(partitions, *_PARTITIONS)} now\n"


async def remove(cluster: Cluster, name: str) -> str:
    """Delete a topic. Returns a line about it. Raises ClientError."""

    def request(connection: Connection) -> DeleteTopicsRequest:
        if connection.serves_version(DeleteTopicsRequest, _NAMED_APART_FROM):
            return DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=TIMEOUT_MS)
        return DeleteTopicsRequest(topic_names=[name], timeout_ms=TIMEOUT_MS)

    await _change(cluster, name, "deleted", request, DeleteTopicsResponse)
    return f"{name}: deleted\n"


async def _change(
    cluster: Cluster, name: str, done: str, request: Callable[[Connection], Request], answer: type[Response]
) -> None:
    """Have the one topic that the request names changed. Raises ClientError if it is not."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + PATIENCE_S
    connection = await cluster.any()
    while True:
        response = await connection.send(request(connection), answer)
        (result,) = getattr(response, _RESULTS[answer])
        if result.error_code == ErrorCode.NOT_CONTROLLER:
            connection = await _controller(cluster)
        elif result.error_code not in _PASSING:
            break
        if loop.time() > until_s:
            break
        await asyncio.sleep(PAUSE_S)
    if result.error_code:
        raise ClientError(f"{name}: not {done}: {result.error_message or _why(result.error_code)}")


async def _controller(cluster: Cluster) -> Connection:
    response = await (await cluster.any()).send(MetadataRequest([]), MetadataResponse)
    for each in response.brokers:
        if each.node_id == response.controller_id:
            return await cluster.to(Broker(each.node_id, each.host, each.port))
    raise ClientError("the cluster has no controller at the moment")


def _why(code: int) -> str:
    return _WHY_NOT.get(code) or error_name(code)


_WHY_NOT: dict[int, str] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "you are not allowed to",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "you are not allowed to",
}

"""Requests of a consumer about its topics and offsets, on the connection to its coordinator, until they are answered.

Each is sent again, after a back-off, as long as that may help and time is left. What an error means is in `offsets.py`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from aiokafka import TopicPartition

from kcoord.client.connection import Connection
from kcoord.client.errors import ClientError
from kcoord.consumer.errors import CommitFailed, ConsumerError, name_some
from kcoord.consumer.membership import Membership
from kcoord.consumer.offsets import (
    Offset,
    Verdict,
    commit_errors,
    commit_request,
    fetch_request,
    fetched_offsets,
    verdict,
)
from kcoord.consumer.transitions import error_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.metadata_request import MetadataRequestTopic
from kcoord.protocol.messages import (
    MetadataRequest,
    MetadataResponse,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    Request,
    Response,
)

R = TypeVar("R", bound=Response)

_NO_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_TOPIC_IDS_FROM = 12
"""The first version of Metadata in which topics can be asked for by id."""


class GroupRequests:
    """Sends the requests. `hurry` makes the next heartbeat come at once, which learns whether the consumer is still a
    member, who coordinates the group, and what its epoch is. `disown` is called when the member is not known any more.
    """

    def __init__(self, member: Membership, hurry: Callable[[], None], disown: Callable[[int], None]) -> None:
        self._member = member
        self._setup = member.setup
        self._hurry = hurry
        self._disown = disown
        self._connection: Connection | None = None
        self._connected = asyncio.Event()
        self._commits = asyncio.Lock()
        self.lives = 0
        """How many times the consumer has lost its membership."""

    def use(self, connection: Connection | None) -> None:
        """Send on this connection from now on; None: wait for the next one."""
        self._connection = connection
        (self._connected.clear if connection is None else self._connected.set)()

    async def commit(
        self,
        offsets: Mapping[TopicPartition, Offset],
        timeout_s: float,
        is_held: Callable[[TopicPartition], bool],
        *,
        skip_unknown: bool = False,
    ) -> None:
        """Commit these offsets, at the member's epoch of that moment. Raises CommitFailed.

        Commits reach the coordinator in the order in which they were asked for. Before each try `is_held` says whether
        the consumer still has a partition. `skip_unknown`: what the coordinator does not know is not tried again.
        """
        life = self.lives
        left = dict(offsets)
        why = "the coordinator could not be reached"
        try:
            async with asyncio.timeout(timeout_s), self._commits:
                for pause_s in self._pauses():
                    foreign = [each for each in left if not is_held(each)]
                    if foreign or life != self.lives:
                        raise self.not_held(foreign or left)
                    request = commit_request(self._setup, self._member.epoch, left)
                    try:
                        response = await self._send(request, OffsetCommitResponse)
                    except ClientError as error:
                        why = str(error)
                    else:
                        errors = commit_errors(response)
                        if skip_unknown:
                            left = {each: offset for each, offset in left.items() if errors.get(each) != _NO_TOPIC}
                        left, why = self._judge(left, errors, life)
                        if not left:
                            return
                    await asyncio.sleep(pause_s)
        except TimeoutError:
            raise CommitFailed(
                f"group {self._setup.group_id}: the offsets of {name_some(left)} were not committed within "
                f"{timeout_s:g} s: {why}. Commit again"
            ) from None

    def _judge(
        self, left: Mapping[TopicPartition, Offset], errors: Mapping[TopicPartition, int], life: int
    ) -> tuple[dict[TopicPartition, Offset], str]:
        """What is to be sent again, and why. Raises CommitFailed."""
        again: dict[TopicPartition, Offset] = {}
        why = ""
        for partition, offset in left.items():
            code = errors.get(partition, ErrorCode.UNKNOWN_SERVER_ERROR)  # it was left out of the answer
            match verdict(code):
                case Verdict.DONE:
                    continue
                case Verdict.FENCED:
                    if code == ErrorCode.UNKNOWN_MEMBER_ID and life == self.lives:
                        self._disown(code)
                    self._hurry()
                    raise self.not_held(left, error_name(code))
                case Verdict.REFUSED:
                    raise CommitFailed(
                        f"group {self._setup.group_id}: the offset {offset[0]} of {name_some([partition])} is refused: "
                        f"{error_name(code)}"
                    )
                case Verdict.STALE | Verdict.AGAIN:
                    again[partition], why = offset, error_name(code)
        if any(errors[each] != _NO_TOPIC for each in again):
            self._hurry()
        return again, why

    def not_held(self, partitions: Iterable[TopicPartition], code: str = "") -> CommitFailed:
        """The error of a commit of partitions that the consumer has lost. `code`: the coordinator's error."""
        said = f" ({code})" if code else ""
        return CommitFailed(
            f"group {self._setup.group_id}: {name_some(partitions)} cannot be committed: this consumer does not have "
            f"these partitions any more{said}. Whoever has them begins at the last committed offset"
        )

    async def committed(
        self,
        partitions: Iterable[TopicPartition],
        is_wanted: Callable[[TopicPartition], bool] = lambda _: True,
    ) -> dict[TopicPartition, int | None]:
        """The committed offsets; None where there is none. Partitions that are not wanted any more are left out.

        Raises ConsumerError if this user may not ask.
        """
        for pause_s in self._pauses():
            asked = [each for each in partitions if is_wanted(each)]
            if not asked:
                return {}
            epoch = self._member.epoch if self._member.is_member else None
            try:
                await self._connected.wait()
                request = fetch_request(self._setup, epoch, asked, self._highest(OffsetFetchRequest))
                response = await self._send(request, OffsetFetchResponse)
            except ClientError:
                pass
            else:
                code, offsets = fetched_offsets(response)
                if verdict(code) is Verdict.DONE:
                    return offsets
                if verdict(code) is Verdict.REFUSED:
                    raise ConsumerError(
                        f"group {self._setup.group_id}: the committed offsets of {name_some(asked)} cannot be read: "
                        f"{error_name(code)}"
                    )
                self._hurry()
            await asyncio.sleep(pause_s)
        raise AssertionError("there is always another pause")

    async def names(self, topic_ids: Iterable[bytes]) -> dict[bytes, str]:
        """The names of the topics with these ids, as far as the broker knows them. Raises ClientError."""
        topics = [MetadataRequestTopic(topic_id=each, name=None) for each in topic_ids]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        response = await self._send(request, MetadataResponse, _TOPIC_IDS_FROM)
        return {each.topic_id: each.name for each in response.topics if not each.error_code and each.name}

    def _highest(self, request: type[Request]) -> int:
        """The highest version of an API that the broker has, of those that are known here."""
        highest = None if self._connection is None else self._connection.highest(request.API_KEY)
        return request.MAX_VERSION if highest is None else min(highest, request.MAX_VERSION)

    async def _send(self, request: Request, answer: type[R], version: int = 0) -> R:
        """Send a request once there is a connection. Raises ClientError."""
        await self._connected.wait()
        connection = self._connection
        assert connection is not None, "there was one a moment ago"
        if version and not connection.serves_version(type(request), version):
            raise ClientError(f"{connection.host}:{connection.port} is too old to know topics by their ids")
        timeout_s = self._setup.request_timeout_ms / 1000
        try:
            async with asyncio.timeout(timeout_s) as limit:
                response = await connection.post(request)
        except TimeoutError:
            if not limit.expired():
                raise
            where = f"{connection.host}:{connection.port}"
            raise ClientError(f"{where}: no answer within {timeout_s:g} s") from None
        assert isinstance(response, answer)
        return response

    def _pauses(self) -> Iterable[float]:
        """How long to wait after each failure in a row, in seconds."""
        backoff_ms = self._setup.backoff_ms
        while True:
            yield backoff_ms * random.uniform(0.8, 1.2) / 1000
            backoff_ms = min(2 * backoff_ms, self._setup.backoff_max_ms)

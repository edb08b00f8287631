"""Is it really as Apache Kafka does it? The tables of `test_errors.py` and `test_table.py`, told to a real broker.

The same lines, over sockets: what is answered, and what is parked, must be the same. Only the clock is the broker's
own, so what a line says of time is not told, and stories that wait for a timeout are left out. Where kcoord means
to differ (docs/classic-groups.md) no line of these tables shows it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import RequestHeader, decode_response_header, encode_request_header
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import RESPONSES, FindCoordinatorRequest, HeartbeatRequest, JoinGroupResponse
from tests.group.asking import VERBS, Asked, version_of
from tests.group.clients import Client
from tests.group.saying import say
from tests.group.story import LINE, MORE, steps_of
from tests.group.test_errors import RIGHT_CALLS, WRONG_CALLS
from tests.group.test_table import CELLS
from tests.kafka.cluster import KafkaCluster

DELAY_MS = 1_000
PARKED_S = 0.15
"""A request that has no answer by then is parked; the broker runs on the same machine."""
PATIENCE_S = 30
UUID_CHARS = 36
AT_A_TIME = 30
TIMED = re.compile(r"\bcrash\b|SYNC_DUE|may-commit")


def stories() -> dict[str, str]:
    """Every line of the tables that can be told to a broker, with what comes before it, by name."""
    told = {
        f"{call.split()[1]}: {what}": f"{before}\n7000 {call} -> {answer}"
        for what, before, call, answer in WRONG_CALLS + RIGHT_CALLS
    }
    told |= {
        f"{row} in {state}": f"{before}\n{event}"
        for (row, state), (before, event) in CELLS.items()
        if row != "SYNC_DUE"
    }
    return {name: story for name, story in told.items() if not TIMED.search(story)}


@pytest.fixture(scope="module")
def broker(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A broker with Kafka's limits on sessions, and a short delay for new groups."""
    limits = {"group.initial.rebalance.delay.ms": DELAY_MS, "group.min.session.timeout.ms": 6_000}
    cluster = start_kafka(overrides=limits)
    for topic in ("t", "u"):
        cluster.create_topic(topic, partitions=3)
    return cluster


async def test_a_real_broker_says_the_same(broker: KafkaCluster) -> None:
    """A story goes by the broker's clock, which a busy machine lets run ahead: what differs is told again, alone."""
    host, _, port = broker.bootstrap.partition(":")
    at_a_time = asyncio.Semaphore(AT_A_TIME)

    async def difference(group_id: str, story: str) -> str | None:
        async with at_a_time:
            live = Live(host, int(port), group_id)
            try:
                await live.tell(story)
            except AssertionError as differs:
                return str(differs)
            finally:
                live.close()
        return None

    await until_groups_are_served(host, int(port))
    all_stories = stories()
    assert len(all_stories) > 100
    found = await asyncio.gather(
        *(difference(f"as-kafka-{number}", story) for number, story in enumerate(all_stories.values()))
    )
    again = [name for name, differs in zip(all_stories, found, strict=True) if differs is not None]
    wrong = {name: await difference(f"as-kafka-again-{name}", all_stories[name]) for name in again}
    assert {name: differs for name, differs in wrong.items() if differs is not None} == {}


class Live:
    """One story at a broker, of a group of its own. Every request has a connection of its own."""

    def __init__(self, host: str, port: int, group_id: str) -> None:
        self._address = (host, port)
        self._group_id = group_id
        self._clients: dict[str, Client] = {}
        self._ids: dict[str, str] = {}
        self._waiting: list[tuple[str, asyncio.Task[Response]]] = []

    async def tell(self, story: str) -> None:
        """Tell it; raises AssertionError where the broker says something else."""
        for line, more in steps_of(story):
            told = LINE.match(line)
            assert told is not None
            await self._step(told["call"].split(), told["answer"], line)
            others = [also for also in map(MORE.match, more) if also is not None]
            flush_held_reply = [await self._let_go(also["who"]) for also in others]
            for also, response in zip(others, flush_held_reply, strict=True):
                assert self._say(response) == _in_order(also["answer"]), f"after {line!r}, to {also['who']}"

    def close(self) -> None:
        """Forget who still waits."""
        for _, task in self._waiting:
            task.cancel()

    async def _step(self, call: list[str], expected: str, line: str) -> None:
        if call in (["time"], ["group"], ["why"]):
            return
        who, verb, *rest = call
        client = self._clients.setdefault(who, Client(who, self._group_id))
        if verb in ("describe", "delete") and not rest:
            rest = [self._group_id]
        asked = Asked.of(rest, self._ids)
        request = VERBS[verb](client, asked)
        task = asyncio.create_task(ask(*self._address, request, version_of(request, asked), who))
        await asyncio.wait([task], timeout=PARKED_S if expected == "parked" else PATIENCE_S)
        if task.done():
            self._learn(client, task.result())
            assert self._say(task.result()) == _in_order(expected), f"in {line!r}"
        else:
            assert expected == "parked", f"in {line!r}: parked"
            self._waiting.append((who, task))

    async def _let_go(self, who: str) -> Response:
        at = next(at for at, (waiting, _) in enumerate(self._waiting) if waiting == who)
        _, task = self._waiting.pop(at)
        response = await asyncio.wait_for(task, PATIENCE_S)
        self._learn(self._clients[who], response)
        return response

    def _learn(self, client: Client, response: Response) -> None:
        if isinstance(response, JoinGroupResponse) and response.error_code in (0, ErrorCode.MEMBER_ID_REQUIRED):
            client.member_id = self._ids[client.name] = response.member_id
            if not response.error_code:
                client.generation, client.protocol = response.generation_id, response.protocol_name

    def _say(self, response: Response) -> str:
        return _in_order(say(response, self._name))

    def _name(self, member_id: str) -> str:
        """A member's name: by what it was told, else by what its id begins with."""
        known = {member_id: name for name, member_id in self._ids.items()}
        short = (
            member_id[: -UUID_CHARS - 1] if len(member_id) > UUID_CHARS else member_id.rpartition("-")[0] or member_id
        )
        return known.get(member_id, short)


def _in_order(answer: str) -> str:
    """Kafka keeps members in no order of its own; and a story's mark for the hot path says nothing of a broker."""
    front, leads, members = answer.rstrip("*").partition(" leads ")
    names, comma, skip = members.partition(",")
    return front + leads + " ".join(sorted(names.split())) + comma + skip


async def ask(host: str, port: int, request: Request, version: int, client_id: str) -> Response:
    """Send one request on a connection of its own; the answer."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        body = encode_request_header(RequestHeader(request.API_KEY, version, 1, client_id)) + request.encode(version)
        writer.write(len(body).to_bytes(4, "big") + body)
        data = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        _, body_pos = decode_response_header(request.API_KEY, version, data)
        response: Response = RESPONSES[request.API_KEY].decode(data, version, body_pos)
        return response
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def until_groups_are_served(host: str, port: int) -> None:
    """A new cluster makes the topic for its groups when a coordinator is asked for; until then it refuses."""
    not_yet = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
    groups = [f"as-kafka-{number}" for number in range(20)]
    for _ in range(100):
        await ask(host, port, FindCoordinatorRequest(key=groups[0]), 3, "warm-up")
        beats: list[Coroutine[Any, Any, Any]] = [
            ask(host, port, HeartbeatRequest(group), 4, "warm-up") for group in groups
        ]
        if not {each.error_code for each in await asyncio.gather(*beats)} & not_yet:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the broker's groups are not served")

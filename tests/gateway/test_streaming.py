"""Do responses come out of the streaming as they went in, whatever the pieces they arrive in? GW-2 and GW-4.

Bytes of our own making, cut at every place: what no real broker would do on demand.
"""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kcoord.gateway.session import upstream as upstream_module
from kcoord.gateway.session.upstream import Expected, Upstream
from kcoord.protocol.frame import encode_response_frame
from kcoord.protocol.generated.fetch_response import FetchableTopicResponse, NodeEndpoint, PartitionData
from kcoord.protocol.generated.produce_response import NodeEndpoint as ProduceNode
from kcoord.protocol.generated.share_fetch_response import NodeEndpoint as ShareNode
from kcoord.protocol.messages import FetchResponse, ProduceResponse, Response, ShareFetchResponse

FETCH, PRODUCE, SHARE_FETCH, LIST_OFFSETS = 1, 0, 78, 2
TAILS = {FETCH: 16, PRODUCE: 10, SHARE_FETCH: 1}
"""APIs whose responses end with node endpoints, in a version that has them."""


class Client:
    """Whoever owns the connection: it keeps what would go to the client."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.got = bytearray()
        self.lost = ""

    def to_client(self, data: bytes | bytearray | memoryview) -> None:
        self.got += data

    def to_client_when_known(self, data: bytes) -> None:
        self.got += data

    def map_node(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        return "kcoord.example", 9093 + node_id

    def upstream_lost(self, reason: str, is_fault: bool) -> None:
        self.lost = reason

    def answered(self) -> None: ...
    def upstream_full(self) -> None: ...
    def upstream_drained(self) -> None: ...


class Socket(asyncio.Transport):
    """A transport without a socket; it knows whether it is read from."""

    is_read = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...
    def abort(self) -> None: ...

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


@attrs.frozen
class Answer:
    """One response that upstream gives: its frame, and what the client must get."""

    api_key: int
    version: int
    frame: bytes
    expected: bytes


def passed(data: bytes) -> Answer:
    frame = encode_response_frame(LIST_OFFSETS, 1, 0, data)
    return Answer(LIST_OFFSETS, 1, frame, frame)


def fetched(api_key: int, records: Sequence[bytes], hosts: Sequence[str], limit: int) -> Answer:
    """A response with records (Produce has none) and node endpoints; above `limit` it streams."""
    version = TAILS[api_key]
    frame = encode_response_frame(api_key, version, 0, _response(api_key, records, hosts).encode(version))
    if not hosts:
        return Answer(api_key, version, frame, frame)
    mapped = ["kcoord.example"] * len(hosts)
    ports = [9093 + number for number in range(len(hosts))]
    whole = encode_response_frame(api_key, version, 0, _response(api_key, records, mapped, ports).encode(version))
    return Answer(api_key, version, frame, whole if len(frame) - 4 <= limit else b"")


def _response(api_key: int, records: Sequence[bytes], hosts: Sequence[str], ports: Sequence[int] = ()) -> Response:
    at = list(zip(range(len(hosts)), hosts, ports or [1000] * len(hosts), strict=True))
    if api_key == FETCH:
        partitions = [PartitionData(partition_index=n, records=each) for n, each in enumerate(records)]
        nodes = [NodeEndpoint(n, host, port, "rack") for n, host, port in at]
        return FetchResponse(responses=[FetchableTopicResponse(partitions=partitions)], node_endpoints=nodes)
    if api_key == PRODUCE:
        return ProduceResponse(node_endpoints=[ProduceNode(n, host, port, None) for n, host, port in at])
    return ShareFetchResponse(node_endpoints=[ShareNode(n, host, port, None) for n, host, port in at])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data in pieces; the places are taken modulo its length."""
    at = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:stop] for start, stop in pairwise(at)]


def through(answers: Sequence[Answer], pieces: list[bytes]) -> Client:
    """What a client gets of these answers when they arrive in these pieces."""
    client = Client()
    upstream = Upstream(client, "a broker")
    for answer in answers:
        upstream.expect(Expected(answer.api_key, answer.version, 0))
    for piece in pieces:
        upstream.data_received(piece)
    return client


def answers(limit: int) -> st.SearchStrategy[Answer]:
    hosts = st.lists(st.sampled_from(["a", "broker-7.example.org", "h" * 40]), max_size=4)
    records = st.lists(st.binary(max_size=200), max_size=4)
    tails = st.builds(fetched, st.sampled_from(sorted(TAILS)), records, hosts, st.just(limit))
    return st.one_of(st.builds(passed, st.binary(max_size=100)), tails)


@given(st.lists(answers(1 << 30), max_size=6), st.lists(st.integers(0, 5000), max_size=12))
def test_rule_2_and_4_whole_responses_pass_or_are_rewritten_exactly(given_: list[Answer], places: list[int]) -> None:
    client = through(given_, cut(b"".join(answer.frame for answer in given_), places))
    assert bytes(client.got) == b"".join(answer.expected for answer in given_)
    assert (client.in_flight, client.lost) == (0, "")


@given(st.lists(answers(64), max_size=6), st.lists(st.integers(0, 5000), max_size=12))
def test_rule_2_and_4_streamed_responses_keep_their_size_and_name_no_upstream_node(
    given_: list[Answer], places: list[int]
) -> None:
    """With the limit set low every larger response streams: its size is told before its end is known."""
    data = b"".join(answer.frame for answer in given_)
    before, upstream_module.COLLECT_LIMIT = upstream_module.COLLECT_LIMIT, 64
    try:
        client = through(given_, cut(data, places))
    finally:
        upstream_module.COLLECT_LIMIT = before
    assert (client.in_flight, client.lost) == (0, "")
    at = 0
    for answer in given_:
        size = 4 + int.from_bytes(client.got[at : at + 4], "big")
        frame = bytes(client.got[at : at + size])
        at += size
        if answer.expected:
            assert frame == answer.expected
            continue
        assert len(frame) == len(answer.frame)
        _check_rewritten_in_place(answer, frame)
    assert at == len(client.got)


def _check_rewritten_in_place(answer: Answer, frame: bytes) -> None:
    kinds: dict[int, type[FetchResponse | ProduceResponse | ShareFetchResponse]] = {
        FETCH: FetchResponse,
        PRODUCE: ProduceResponse,
        SHARE_FETCH: ShareFetchResponse,
    }
    kind = kinds[answer.api_key]
    theirs = kind.decode(answer.frame, answer.version, 9)
    ours = kind.decode(frame, answer.version, 9)
    for node in ours.node_endpoints:
        assert (node.host, node.port) == ("kcoord.example", 9093 + node.node_id)
    assert len(ours.node_endpoints) in (0, len(theirs.node_endpoints))  # all of them, or none where they do not fit
    ours.node_endpoints, theirs.node_endpoints = [], []
    ours.unknown_tagged_fields = ()  # what fills the tail up
    assert ours == theirs


def test_a_response_that_nobody_waits_for_ends_the_connection() -> None:
    client = Client()
    upstream = Upstream(client, "a broker")
    upstream.connection_made(Socket())
    upstream.data_received(encode_response_frame(LIST_OFFSETS, 1, 7, b""))
    assert bytes(client.got) == b""
    assert "correlation id 7 that no request waits for" in client.lost


def test_a_response_is_never_larger_in_memory_than_what_must_be_read() -> None:
    """A passed response of 100 MB, in pieces: nothing of it stays."""
    size = 100 * 1024 * 1024
    client = Client()
    client.to_client = lambda data: None  # type: ignore[method-assign]
    upstream = Upstream(client, "a broker")
    upstream.expect(Expected(LIST_OFFSETS, 1, 0))
    upstream.data_received((size + 4).to_bytes(4, "big") + bytes(4))
    piece = bytes(64 * 1024)
    for _ in range(size // len(piece)):
        upstream.data_received(piece)
        assert upstream.collected_bytes == 0
    assert client.in_flight == 0


async def test_a_held_response_holds_what_is_behind_it() -> None:
    """While the ports of new brokers are opened, nothing overtakes the response that names them."""
    client = Client()
    upstream = Upstream(client, "a broker")
    frames = [encode_response_frame(LIST_OFFSETS, 1, 0, b"first"), encode_response_frame(LIST_OFFSETS, 1, 0, b"second")]

    def hold(owed: Expected, frame: bytes) -> None:
        upstream.hold()

    upstream.expect(Expected(LIST_OFFSETS, 1, 0, hold))
    upstream.expect(Expected(LIST_OFFSETS, 1, 0))
    upstream.data_received(frames[0] + frames[1][:3])
    upstream.data_received(frames[1][3:])
    assert bytes(client.got) == b""
    client.to_client(frames[0])
    upstream.release()
    assert bytes(client.got) == b"".join(frames)


def test_nobody_is_read_from_while_a_response_is_held_or_the_client_does_not_read() -> None:
    """Both may be at the same time, in any order: only when both are over, reading goes on."""
    upstream, socket = Upstream(Client(), "a broker"), Socket()
    upstream.connection_made(socket)
    seen = []
    for step in (upstream.hold, upstream.pause, upstream.release, upstream.resume, upstream.pause, upstream.hold,
                 upstream.resume, upstream.release):  # fmt: skip
        step()
        seen.append(socket.is_read)
    assert seen == [False, False, False, True, False, False, False, True]

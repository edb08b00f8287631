"""Are headers and frames what others write and read?"""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.request_header.v1.header import RequestHeader as KioHeader1
from kio.schema.request_header.v2.header import RequestHeader as KioHeader2
from kio.serial import entity_writer

from kcoord.protocol.frame import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_frame,
)
from kcoord.protocol.generated.produce_request import ProduceRequest
from kcoord.protocol.messages import API_VERSIONS, FLEXIBLE_FROM, api_name
from kcoord.protocol.primitives import DecodeError, EncodeError
from kcoord.protocol.request_peek import peek_api, peek_produce_acks

INT16 = st.integers(-(1 << 15), (1 << 15) - 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)


@given(
    api=st.sampled_from(sorted(API_VERSIONS)),
    version=st.integers(0, 20),
    correlation_id=INT32,
    client_id=st.none() | st.text(max_size=40),
)
def test_request_headers_are_written_as_kio_writes_them_and_read_again(
    api: int, version: int, correlation_id: int, client_id: str | None
) -> None:
    header = RequestHeader(api, version, correlation_id, client_id)
    kio_class: Any = KioHeader2 if version >= FLEXIBLE_FROM[api] else KioHeader1
    kio = kio_class(
        request_api_key=api, request_api_version=version, correlation_id=correlation_id, client_id=client_id
    )
    theirs = io.BytesIO()
    entity_writer(type(kio))(theirs, kio)

    data = encode_request_header(header)
    assert data == theirs.getvalue()
    assert decode_request_header(data + b"body") == (header, len(data))
    assert decode_request_header(b"....." + data + b"body", 5) == (header, 5 + len(data))
    assert peek_api(data) == (api, version, correlation_id)


def test_tagged_fields_of_a_header_are_stepped_over() -> None:
    data = encode_request_header(RequestHeader(11, 9, 7, "c"))[:-1] + b"\2\0\1x\5\2yz"
    assert decode_request_header(data + b"body") == (RequestHeader(11, 9, 7, "c"), len(data))


def test_a_client_id_need_not_be_utf_8() -> None:
    data = encode_request_header(RequestHeader(11, 5, 7, "c-?")).replace(b"?", b"\xe9")
    assert decode_request_header(data)[0].client_id == "c-\ufffd"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "RequestHeader: cut short, 0 bytes"),
        (b"\0\x0b\0\1\0\0\0", "RequestHeader: cut short, 7 bytes"),
        (b"\x12\x34\0\0\0\0\0\1\xff\xff", "RequestHeader: unknown API key 4660"),
        (b"GET / HTTP/1.1\r\n", "RequestHeader: unknown API key 18245"),
        (bytes.fromhex("1603010200010001fc0303"), "RequestHeader: unknown API key 5635"),
        (b"\0\x0b\0\1\0\0\0\1\x7f\xffabc", "RequestHeader of JoinGroup v1: the client id says 32767 bytes, 3 are left"),
        (b"\0\x0b\0\1\0\0\0\1\xff\xfe", "RequestHeader of JoinGroup v1: the client id says -2 bytes"),
        (b"\0\x0b\0\6\0\0\0\1\xff\xff", "RequestHeader: cut short, 10 bytes"),
        (b"\0\x0b\0\6\0\0\0\1\xff\xff\x09", "RequestHeader of JoinGroup v6: more tagged fields than bytes"),
    ],
)
def test_bytes_that_are_no_header(data: bytes, says: str) -> None:
    with pytest.raises(DecodeError, match=f"^{re.escape(says)}$"):
        decode_request_header(data)


def test_a_header_that_cannot_be_written() -> None:
    with pytest.raises(EncodeError, match="unknown API key 999"):
        encode_request_header(RequestHeader(999, 0, 1, None))
    with pytest.raises(EncodeError, match="a client id of 32768 bytes"):
        encode_request_header(RequestHeader(11, 0, 1, "x" * 32_768))


@pytest.mark.parametrize(
    ("api", "version", "frame"),
    [
        (11, 5, "00000008 00000007 626f6479"),
        (11, 6, "00000009 00000007 00 626f6479"),
        (18, 4, "00000008 00000007 626f6479"),  # ApiVersions: header v0 in every version (KIP-511)
        (17, 1, "00000008 00000007 626f6479"),
    ],
)
def test_response_frames(api: int, version: int, frame: str) -> None:
    data = encode_response_frame(api, version, 7, b"body")
    assert data == bytes.fromhex(frame)
    assert decode_response_header(api, version, data, 4) == (7, len(data) - 4)


def test_a_cut_response_header_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"^ResponseHeader of JoinGroup v6: cut short, 4 bytes$"):
        decode_response_header(11, 6, bytes(4))


def test_every_api_has_a_name() -> None:
    assert (api_name(12), api_name(32_000)) == ("Heartbeat", "API 32000")


@given(
    version=st.integers(ProduceRequest.MIN_VERSION, ProduceRequest.MAX_VERSION),
    acks=st.sampled_from([-1, 0, 1]),
    client_id=st.none() | st.text(max_size=200),
    transactional_id=st.none() | st.text(max_size=200),
)
def test_acks_are_known_as_soon_as_their_bytes_are_there(
    version: int, acks: int, client_id: str | None, transactional_id: str | None
) -> None:
    head = encode_request_header(RequestHeader(0, version, 1, client_id))
    frame = head + ProduceRequest(transactional_id, acks).encode(version)
    known = [peek_produce_acks(frame[:size]) for size in range(len(frame) + 1)]
    first = next(size for size, found in enumerate(known) if found is not None)
    assert set(known[:first]) == {None}
    assert set(known[first:]) == {acks}
    flexible = version >= ProduceRequest.FLEXIBLE_FROM
    assert len(frame) - first == len(ProduceRequest().encode(version)) - (3 if flexible else 4), "not a byte too late"


def test_acks_of_what_is_no_produce_request() -> None:
    with pytest.raises(DecodeError, match="API 1 is not Produce"):
        peek_produce_acks(encode_request_header(RequestHeader(1, 12, 1, None)))
    with pytest.raises(DecodeError, match="Produce v3: a string of -9 bytes"):
        peek_produce_acks(b"\0\0\0\3\0\0\0\1\xff\xf7")

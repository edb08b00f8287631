# Generated from schemas/message/CreatePartitionsResponse.json by `python -m schemas.generator`. Do not edit.
"""CreatePartitionsResponse, a response, versions 0-3."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_h = Format(">h").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hh = Format(">hh").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class CreatePartitionsTopicResult(Struct):
    name: str = ""
    """The topic's name."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreatePartitionsResponse(Response):
    """Which topics have more partitions now."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    results: list[CreatePartitionsTopicResult] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> CreatePartitionsResponse:
    end = len(data)
    message = new(CreatePartitionsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    results: list[CreatePartitionsTopicResult] = []
    results_left = n
    results_tries = 4
    while results_left:
        results_start = pos
        result_2 = new(CreatePartitionsTopicResult)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        result_2.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        result_2.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            if n != -1:
                raise Malformed
            result_2.error_message = None
        elif n == 0:
            result_2.error_message = ""
        else:
            stop = pos + n
            result_2.error_message = data[pos:stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        result_2.unknown_tagged_fields = ()
        results.append(result_2)
        results_left -= 1
        if results_tries and results_left >= 12:
            name_size = name_n
            same = data[results_start : name_end - name_size]
            error_message_null = result_2.error_message is None
            error_message_size = 0 if result_2.error_message is None else error_message_n
            same_2 = data[name_end + 2 : error_message_end - error_message_size]
            results_unknown = result_2.unknown_tagged_fields
            results_done = len(results)
            results_size = pos - results_start
            stop = pos + min(results_left, (end - pos) // results_size) * results_size
            for row in iter_unpack(f">{len(same)}s{name_size}sh{len(same_2)}s{error_message_size}s", memoryview(data)[pos:stop]):
                gap, name, error_code, gap_2, error_message = row
                if gap != same or gap_2 != same_2:
                    break
                result_2 = new(CreatePartitionsTopicResult)
                result_2.name = name.decode() if name else ""
                result_2.error_code = error_code
                result_2.error_message = None if error_message_null else error_message.decode() if error_message else ""
                result_2.unknown_tagged_fields = results_unknown
                results.append(result_2)
            results_done = len(results) - results_done
            pos += results_done * results_size
            results_left -= results_done
            if not results_done:
                results_tries -= 1
    message.results = results
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> CreatePartitionsResponse:
    end = len(data)
    message = new(CreatePartitionsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 5 > end - pos:
        raise Malformed
    results: list[CreatePartitionsTopicResult] = []
    results_left = n
    results_tries = 4
    while results_left:
        results_start = pos
        result_2 = new(CreatePartitionsTopicResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        result_2.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        result_2.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            result_2.error_message = None
            pos += 1
        elif n == 1:
            result_2.error_message = ""
            pos += 1
        else:
            stop = pos + n
            result_2.error_message = data[pos + 1 : stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            result_2.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            result_2.unknown_tagged_fields = ()
            pos += 1
        results.append(result_2)
        results_left -= 1
        if results_tries and results_left >= 12:
            name_size = name_n - 1
            same = data[results_start : name_end - name_size]
            error_message_null = result_2.error_message is None
            error_message_size = 0 if result_2.error_message is None else error_message_n - 1
            same_2 = data[name_end + 2 : error_message_end - error_message_size]
            same_3 = data[error_message_end : pos]
            results_unknown = result_2.unknown_tagged_fields
            results_done = len(results)
            results_size = pos - results_start
            stop = pos + min(results_left, (end - pos) // results_size) * results_size
            for row in iter_unpack(f">{len(same)}s{name_size}sh{len(same_2)}s{error_message_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, error_code, gap_2, error_message, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                result_2 = new(CreatePartitionsTopicResult)
                result_2.name = name.decode() if name else ""
                result_2.error_code = error_code
                result_2.error_message = None if error_message_null else error_message.decode() if error_message else ""
                result_2.unknown_tagged_fields = results_unknown
                results.append(result_2)
            results_done = len(results) - results_done
            pos += results_done * results_size
            results_left -= results_done
            if not results_done:
                results_tries -= 1
    message.results = results
    n = data[pos]
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: CreatePartitionsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.results:
        b3 = e2.name.encode()
        n4 = len(b3)
        v7 = e2.error_message
        if v7 is None:
            b5 = b""
            n6 = -1
        else:
            b5 = v7.encode()
            n6 = len(b5)
        out += (pack_h(n4), b3, pack_hh(e2.error_code, n6), b5)
    return b"".join(out)


def _encode_v2(m: CreatePartitionsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.results:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        v7 = e2.error_message
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_h(e2.error_code),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


CreatePartitionsTopicResult.FIELDS = (
    Field("name", "Name", "string", (0, 3), entity="topicName"),
    Field("error_code", "ErrorCode", "int16", (0, 3)),
    Field("error_message", "ErrorMessage", "string", (0, 3), nullable=(0, 3)),
)
CreatePartitionsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 3)),
    Field("results", "Results", "struct", (0, 3), is_array=True, struct=CreatePartitionsTopicResult),
)
CreatePartitionsResponse.NAME = "CreatePartitionsResponse"
CreatePartitionsResponse.API_KEY = 37
CreatePartitionsResponse.MIN_VERSION = 0
CreatePartitionsResponse.MAX_VERSION = 3
CreatePartitionsResponse.FLEXIBLE_FROM = 2
CreatePartitionsResponse._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v2, 3: _decode_v2}
CreatePartitionsResponse._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v2, 3: _encode_v2}

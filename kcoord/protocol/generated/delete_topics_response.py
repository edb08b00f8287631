# Generated from schemas/message/DeleteTopicsResponse.json by `python -m schemas.generator`. Do not edit.
"""DeleteTopicsResponse, a response, versions 1-6."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response, Struct
from kcoord.protocol.primitives import (
    ONE_BYTE,
    ZERO_UUID,
    EncodeError,
    Malformed,
    read_string_length,
    read_tagged,
    read_uvarint,
    write_string_length,
    write_tagged,
    write_uvarint,
)

new = object.__new__
unpack_uhn = Format(">16shB").unpack_from
unpack_h = Format(">h").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_uh = Format(">16sh").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class DeletableTopicResult(Struct):
    name: str | None = ""
    """The topic's name."""
    topic_id: bytes = ZERO_UUID
    """Its id. Since version 6."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = None
    """Text to the error, or null. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DeleteTopicsResponse(Response):
    """Which topics were deleted."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    responses: list[DeletableTopicResult] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> DeleteTopicsResponse:
    end = len(data)
    message = new(DeleteTopicsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 4 > end - pos:
        raise Malformed
    responses: list[DeletableTopicResult] = []
    responses_left = n
    responses_tries = 4
    while responses_left:
        responses_start = pos
        response = new(DeletableTopicResult)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        response.topic_id = ZERO_UUID
        response.error_message = None
        (response.error_code,) = unpack_h(data, pos)
        pos += 2
        response.unknown_tagged_fields = ()
        responses.append(response)
        responses_left -= 1
        if responses_tries and responses_left >= 12:
            name_size = name_n
            same = data[responses_start : name_end - name_size]
            responses_unknown = response.unknown_tagged_fields
            responses_done = len(responses)
            responses_size = pos - responses_start
            stop = pos + min(responses_left, (end - pos) // responses_size) * responses_size
            for row in iter_unpack(f">{len(same)}s{name_size}sh", memoryview(data)[pos:stop]):
                gap, name, error_code = row
                if gap != same:
                    break
                response = new(DeletableTopicResult)
                response.name = name.decode() if name else ""
                response.error_code = error_code
                response.topic_id = ZERO_UUID
                response.error_message = None
                response.unknown_tagged_fields = responses_unknown
                responses.append(response)
            responses_done = len(responses) - responses_done
            pos += responses_done * responses_size
            responses_left -= responses_done
            if not responses_done:
                responses_tries -= 1
    message.responses = responses
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> DeleteTopicsResponse:
    end = len(data)
    message = new(DeleteTopicsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 4 > end - pos:
        raise Malformed
    responses: list[DeletableTopicResult] = []
    responses_left = n
    responses_tries = 4
    while responses_left:
        responses_start = pos
        response = new(DeletableTopicResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        response.topic_id = ZERO_UUID
        response.error_message = None
        response.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
        responses_left -= 1
        if responses_tries and responses_left >= 12:
            name_size = name_n - 1
            same = data[responses_start : name_end - name_size]
            same_2 = data[name_end + 2 : pos]
            responses_unknown = response.unknown_tagged_fields
            responses_done = len(responses)
            responses_size = pos - responses_start
            stop = pos + min(responses_left, (end - pos) // responses_size) * responses_size
            for row in iter_unpack(f">{len(same)}s{name_size}sh{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, name, error_code, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                response = new(DeletableTopicResult)
                response.name = name.decode() if name else ""
                response.error_code = error_code
                response.topic_id = ZERO_UUID
                response.error_message = None
                response.unknown_tagged_fields = responses_unknown
                responses.append(response)
            responses_done = len(responses) - responses_done
            pos += responses_done * responses_size
            responses_left -= responses_done
            if not responses_done:
                responses_tries -= 1
    message.responses = responses
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


def _decode_v5(data: bytes, pos: int) -> DeleteTopicsResponse:
    end = len(data)
    message = new(DeleteTopicsResponse)
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
    responses: list[DeletableTopicResult] = []
    responses_left = n
    responses_tries = 4
    while responses_left:
        responses_start = pos
        response = new(DeletableTopicResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        response.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        response.topic_id = ZERO_UUID
        response.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            response.error_message = None
            pos += 1
        elif n == 1:
            response.error_message = ""
            pos += 1
        else:
            stop = pos + n
            response.error_message = data[pos + 1 : stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
        responses_left -= 1
        if responses_tries and responses_left >= 12:
            name_size = name_n - 1
            same = data[responses_start : name_end - name_size]
            error_message_null = response.error_message is None
            error_message_size = 0 if response.error_message is None else error_message_n - 1
            same_2 = data[name_end + 2 : error_message_end - error_message_size]
            same_3 = data[error_message_end : pos]
            responses_unknown = response.unknown_tagged_fields
            responses_done = len(responses)
            responses_size = pos - responses_start
            stop = pos + min(responses_left, (end - pos) // responses_size) * responses_size
            for row in iter_unpack(f">{len(same)}s{name_size}sh{len(same_2)}s{error_message_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, error_code, gap_2, error_message, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                response = new(DeletableTopicResult)
                response.name = name.decode() if name else ""
                response.error_code = error_code
                response.error_message = None if error_message_null else error_message.decode() if error_message else ""
                response.topic_id = ZERO_UUID
                response.unknown_tagged_fields = responses_unknown
                responses.append(response)
            responses_done = len(responses) - responses_done
            pos += responses_done * responses_size
            responses_left -= responses_done
            if not responses_done:
                responses_tries -= 1
    message.responses = responses
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


def _decode_v6(data: bytes, pos: int) -> DeleteTopicsResponse:
    end = len(data)
    message = new(DeleteTopicsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 21 > end - pos:
        raise Malformed
    responses: list[DeletableTopicResult] = []
    responses_left = n
    responses_tries = 4
    while responses_left:
        responses_start = pos
        response = new(DeletableTopicResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            response.name = None
            pos += 1
        elif n == 1:
            response.name = ""
            pos += 1
        else:
            stop = pos + n
            response.name = data[pos + 1 : stop].decode()
            pos = stop
        name_end = pos
        name_n = n
        response.topic_id, response.error_code, n = unpack_uhn(data, pos)
        pos += 18
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            response.error_message = None
            pos += 1
        elif n == 1:
            response.error_message = ""
            pos += 1
        else:
            stop = pos + n
            response.error_message = data[pos + 1 : stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            response.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            response.unknown_tagged_fields = ()
            pos += 1
        responses.append(response)
        responses_left -= 1
        if responses_tries and responses_left >= 12:
            name_null = response.name is None
            name_size = 0 if response.name is None else name_n - 1
            same = data[responses_start : name_end - name_size]
            error_message_null = response.error_message is None
            error_message_size = 0 if response.error_message is None else error_message_n - 1
            same_2 = data[name_end + 18 : error_message_end - error_message_size]
            same_3 = data[error_message_end : pos]
            responses_unknown = response.unknown_tagged_fields
            responses_done = len(responses)
            responses_size = pos - responses_start
            stop = pos + min(responses_left, (end - pos) // responses_size) * responses_size
            for row in iter_unpack(f">{len(same)}s{name_size}s16sh{len(same_2)}s{error_message_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, topic_id, error_code, gap_2, error_message, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                response = new(DeletableTopicResult)
                response.name = None if name_null else name.decode() if name else ""
                response.topic_id = topic_id
                response.error_code = error_code
                response.error_message = None if error_message_null else error_message.decode() if error_message else ""
                response.unknown_tagged_fields = responses_unknown
                responses.append(response)
            responses_done = len(responses) - responses_done
            pos += responses_done * responses_size
            responses_left -= responses_done
            if not responses_done:
                responses_tries -= 1
    message.responses = responses
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


def _encode_v1(m: DeleteTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.responses:
        v3 = e2.name
        if v3 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b4 = v3.encode()
        n5 = len(b4)
        out += (pack_h(n5), b4, pack_h(e2.error_code))
    return b"".join(out)


def _encode_v4(m: DeleteTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        v3 = e2.name
        if v3 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b4 = v3.encode()
        n5 = len(b4) + 1
        out += (
            ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
            b4,
            pack_h(e2.error_code),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v5(m: DeleteTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        v3 = e2.name
        if v3 is None:
            raise EncodeError("Name is null, which is not allowed in this version")
        b4 = v3.encode()
        n5 = len(b4) + 1
        v8 = e2.error_message
        if v8 is None:
            b6 = b""
            n7 = 0
        else:
            b6 = v8.encode()
            n7 = len(b6) + 1
        out += (
            ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
            b4,
            pack_h(e2.error_code),
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v6(m: DeleteTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        v5 = e2.name
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        v8 = e2.error_message
        if v8 is None:
            b6 = b""
            n7 = 0
        else:
            b6 = v8.encode()
            n7 = len(b6) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_uh(e2.topic_id, e2.error_code),
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DeletableTopicResult.FIELDS = (
    Field("name", "Name", "string", (1, 6), nullable=(6, 6), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (6, 6), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (1, 6)),
    Field("error_message", "ErrorMessage", "string", (5, 6), nullable=(5, 6), ignorable=True),
)
DeleteTopicsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 6), ignorable=True),
    Field("responses", "Responses", "struct", (1, 6), is_array=True, struct=DeletableTopicResult),
)
DeleteTopicsResponse.NAME = "DeleteTopicsResponse"
DeleteTopicsResponse.API_KEY = 20
DeleteTopicsResponse.MIN_VERSION = 1
DeleteTopicsResponse.MAX_VERSION = 6
DeleteTopicsResponse.FLEXIBLE_FROM = 4
DeleteTopicsResponse._DECODERS = {
    1: _decode_v1,
    2: _decode_v1,
    3: _decode_v1,
    4: _decode_v4,
    5: _decode_v5,
    6: _decode_v6,
}
DeleteTopicsResponse._ENCODERS = {
    1: _encode_v1,
    2: _encode_v1,
    3: _encode_v1,
    4: _encode_v4,
    5: _encode_v5,
    6: _encode_v6,
}

# Generated from schemas/message/IncrementalAlterConfigsResponse.json by `python -m schemas.generator`. Do not edit.
"""IncrementalAlterConfigsResponse, a response, versions 0-1."""

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
unpack_bn = Format(">bB").unpack_from
unpack_bh = Format(">bh").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hh = Format(">hh").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_b = Format(">b").pack
pack_bh = Format(">bh").pack
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class AlterConfigsResourceResponse(Struct):
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = ""
    """Text to the error, or null."""
    resource_type: int = 0
    """What kind of resource it is."""
    resource_name: str = ""
    """Its name."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class IncrementalAlterConfigsResponse(Response):
    """Whether the settings of each resource were changed; all of them or none."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    responses: list[AlterConfigsResourceResponse] = attrs.Factory(list)
    """One entry for each resource."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> IncrementalAlterConfigsResponse:
    end = len(data)
    message = new(IncrementalAlterConfigsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 7 > end - pos:
        raise Malformed
    responses: list[AlterConfigsResourceResponse] = []
    responses_left = n
    responses_tries = 4
    while responses_left:
        responses_start = pos
        response = new(AlterConfigsResourceResponse)
        response.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            if n != -1:
                raise Malformed
            response.error_message = None
        elif n == 0:
            response.error_message = ""
        else:
            stop = pos + n
            response.error_message = data[pos:stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        response.resource_type, n = unpack_bh(data, pos)
        pos += 3
        if n < 0:
            raise Malformed
        stop = pos + n
        response.resource_name = data[pos:stop].decode()
        pos = stop
        resource_name_end = pos
        resource_name_n = n
        response.unknown_tagged_fields = ()
        responses.append(response)
        responses_left -= 1
        if responses_tries and responses_left >= 12:
            error_message_null = response.error_message is None
            error_message_size = 0 if response.error_message is None else error_message_n
            same = data[responses_start + 2 : error_message_end - error_message_size]
            resource_name_size = resource_name_n
            same_2 = data[error_message_end + 1 : resource_name_end - resource_name_size]
            responses_unknown = response.unknown_tagged_fields
            responses_done = len(responses)
            responses_size = pos - responses_start
            stop = pos + min(responses_left, (end - pos) // responses_size) * responses_size
            for row in iter_unpack(f">h{len(same)}s{error_message_size}sb{len(same_2)}s{resource_name_size}s", memoryview(data)[pos:stop]):
                error_code, gap, error_message, resource_type, gap_2, resource_name = row
                if gap != same or gap_2 != same_2:
                    break
                response = new(AlterConfigsResourceResponse)
                response.error_code = error_code
                response.error_message = None if error_message_null else error_message.decode() if error_message else ""
                response.resource_type = resource_type
                response.resource_name = resource_name.decode() if resource_name else ""
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


def _decode_v1(data: bytes, pos: int) -> IncrementalAlterConfigsResponse:
    end = len(data)
    message = new(IncrementalAlterConfigsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 6 > end - pos:
        raise Malformed
    responses: list[AlterConfigsResourceResponse] = []
    responses_left = n
    responses_tries = 4
    while responses_left:
        responses_start = pos
        response = new(AlterConfigsResourceResponse)
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
        response.resource_type, n = unpack_bn(data, pos)
        pos += 1
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        response.resource_name = data[pos + 1 : stop].decode()
        pos = stop
        resource_name_end = pos
        resource_name_n = n
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
            error_message_null = response.error_message is None
            error_message_size = 0 if response.error_message is None else error_message_n - 1
            same = data[responses_start + 2 : error_message_end - error_message_size]
            resource_name_size = resource_name_n - 1
            same_2 = data[error_message_end + 1 : resource_name_end - resource_name_size]
            same_3 = data[resource_name_end : pos]
            responses_unknown = response.unknown_tagged_fields
            responses_done = len(responses)
            responses_size = pos - responses_start
            stop = pos + min(responses_left, (end - pos) // responses_size) * responses_size
            for row in iter_unpack(f">h{len(same)}s{error_message_size}sb{len(same_2)}s{resource_name_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                error_code, gap, error_message, resource_type, gap_2, resource_name, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                response = new(AlterConfigsResourceResponse)
                response.error_code = error_code
                response.error_message = None if error_message_null else error_message.decode() if error_message else ""
                response.resource_type = resource_type
                response.resource_name = resource_name.decode() if resource_name else ""
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


def _encode_v0(m: IncrementalAlterConfigsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.responses:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = -1
        else:
            b3 = v5.encode()
            n4 = len(b3)
        b6 = e2.resource_name.encode()
        n7 = len(b6)
        out += (pack_hh(e2.error_code, n4), b3, pack_bh(e2.resource_type, n7), b6)
    return b"".join(out)


def _encode_v1(m: IncrementalAlterConfigsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.responses) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.responses:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        b6 = e2.resource_name.encode()
        n7 = len(b6) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_b(e2.resource_type),
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


AlterConfigsResourceResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 1)),
    Field("error_message", "ErrorMessage", "string", (0, 1), nullable=(0, 1)),
    Field("resource_type", "ResourceType", "int8", (0, 1)),
    Field("resource_name", "ResourceName", "string", (0, 1)),
)
IncrementalAlterConfigsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 1)),
    Field("responses", "Responses", "struct", (0, 1), is_array=True, struct=AlterConfigsResourceResponse),
)
IncrementalAlterConfigsResponse.NAME = "IncrementalAlterConfigsResponse"
IncrementalAlterConfigsResponse.API_KEY = 44
IncrementalAlterConfigsResponse.MIN_VERSION = 0
IncrementalAlterConfigsResponse.MAX_VERSION = 1
IncrementalAlterConfigsResponse.FLEXIBLE_FROM = 1
IncrementalAlterConfigsResponse._DECODERS = {0: _decode_v0, 1: _decode_v1}
IncrementalAlterConfigsResponse._ENCODERS = {0: _encode_v0, 1: _encode_v1}

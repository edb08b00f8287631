# Generated from schemas/message/DeleteGroupsResponse.json by `python -m schemas.generator`. Do not edit.
"""DeleteGroupsResponse, a response, versions 0-2."""

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
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_h = Format(">h").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class DeletableGroupResult(Struct):
    group_id: str = ""
    """The group's id."""
    error_code: int = 0
    """The error, or 0."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DeleteGroupsResponse(Response):
    """What came of each deletion."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    results: list[DeletableGroupResult] = attrs.Factory(list)
    """One entry for each group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DeleteGroupsResponse:
    end = len(data)
    message = new(DeleteGroupsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 4 > end - pos:
        raise Malformed
    results: list[DeletableGroupResult] = []
    results_left = n
    results_tries = 4
    while results_left:
        results_start = pos
        result_2 = new(DeletableGroupResult)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        result_2.group_id = data[pos:stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        (result_2.error_code,) = unpack_h(data, pos)
        pos += 2
        result_2.unknown_tagged_fields = ()
        results.append(result_2)
        results_left -= 1
        if results_tries and results_left >= 12:
            group_id_size = group_id_n
            same = data[results_start : group_id_end - group_id_size]
            results_unknown = result_2.unknown_tagged_fields
            results_done = len(results)
            results_size = pos - results_start
            stop = pos + min(results_left, (end - pos) // results_size) * results_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}sh", memoryview(data)[pos:stop]):
                gap, group_id, error_code = row
                if gap != same:
                    break
                result_2 = new(DeletableGroupResult)
                result_2.group_id = group_id.decode() if group_id else ""
                result_2.error_code = error_code
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


def _decode_v2(data: bytes, pos: int) -> DeleteGroupsResponse:
    end = len(data)
    message = new(DeleteGroupsResponse)
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
    results: list[DeletableGroupResult] = []
    results_left = n
    results_tries = 4
    while results_left:
        results_start = pos
        result_2 = new(DeletableGroupResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        result_2.group_id = data[pos + 1 : stop].decode()
        pos = stop
        group_id_end = pos
        group_id_n = n
        result_2.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n:
            n, pos = read_uvarint(data, pos)
            result_2.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            result_2.unknown_tagged_fields = ()
            pos += 1
        results.append(result_2)
        results_left -= 1
        if results_tries and results_left >= 12:
            group_id_size = group_id_n - 1
            same = data[results_start : group_id_end - group_id_size]
            same_2 = data[group_id_end + 2 : pos]
            results_unknown = result_2.unknown_tagged_fields
            results_done = len(results)
            results_size = pos - results_start
            stop = pos + min(results_left, (end - pos) // results_size) * results_size
            for row in iter_unpack(f">{len(same)}s{group_id_size}sh{len(same_2)}s", memoryview(data)[pos:stop]):
                gap, group_id, error_code, gap_2 = row
                if gap != same or gap_2 != same_2:
                    break
                result_2 = new(DeletableGroupResult)
                result_2.group_id = group_id.decode() if group_id else ""
                result_2.error_code = error_code
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


def _encode_v0(m: DeleteGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.results:
        b3 = e2.group_id.encode()
        n4 = len(b3)
        out += (pack_h(n4), b3, pack_h(e2.error_code))
    return b"".join(out)


def _encode_v2(m: DeleteGroupsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.results:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_h(e2.error_code),
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DeletableGroupResult.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 2), entity="groupId"),
    Field("error_code", "ErrorCode", "int16", (0, 2)),
)
DeleteGroupsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (0, 2)),
    Field("results", "Results", "struct", (0, 2), is_array=True, struct=DeletableGroupResult),
)
DeleteGroupsResponse.NAME = "DeleteGroupsResponse"
DeleteGroupsResponse.API_KEY = 42
DeleteGroupsResponse.MIN_VERSION = 0
DeleteGroupsResponse.MAX_VERSION = 2
DeleteGroupsResponse.FLEXIBLE_FROM = 2
DeleteGroupsResponse._DECODERS = {0: _decode_v0, 1: _decode_v0, 2: _decode_v2}
DeleteGroupsResponse._ENCODERS = {0: _encode_v0, 1: _encode_v0, 2: _encode_v2}

# Generated from schemas/message/DescribeConfigsResponse.json by `python -m schemas.generator`. Do not edit.
"""DescribeConfigsResponse, a response, versions 1-4."""

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
unpack_xbxn = Format(">?b?B").unpack_from
unpack_xbxi = Format(">?b?i").unpack_from
unpack_b = Format(">b").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_bh = Format(">bh").unpack_from
unpack_h = Format(">h").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hh = Format(">hh").unpack_from
unpack_i = Format(">i").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_xbx = Format(">?b?").pack
pack_xbxi = Format(">?b?i").pack
pack_b = Format(">b").pack
pack_bh = Format(">bh").pack
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribeConfigsSynonym(Struct):
    name: str = ""
    """The name there."""
    value: str | None = ""
    """The value there, or null."""
    source: int = 0
    """Where it comes from, by number."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeConfigsResourceResult(Struct):
    name: str = ""
    """The setting's name."""
    value: str | None = ""
    """Its value; null: none, or a secret."""
    read_only: bool = False
    """Whether it cannot be changed by request."""
    config_source: int = -1
    """Where the value comes from, by number: 4 the file, 5 the default, 8 the group itself and so on."""
    is_sensitive: bool = False
    """Whether the value is a secret."""
    synonyms: list[DescribeConfigsSynonym] = attrs.Factory(list)
    """All values that there are for it, the one in force first."""
    config_type: int = 0
    """What kind of value it is, by number: 1 boolean, 2 string, 3 int, 5 long, 7 list and so on. Since version 3."""
    documentation: str | None = ""
    """What the setting means, or null. Since version 3."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeConfigsResult(Struct):
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = ""
    """Text to the error, or null."""
    resource_type: int = 0
    """What kind of resource it is."""
    resource_name: str = ""
    """Its name."""
    configs: list[DescribeConfigsResourceResult] = attrs.Factory(list)
    """Its settings."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class DescribeConfigsResponse(Response):
    """The settings that were asked for."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    results: list[DescribeConfigsResult] = attrs.Factory(list)
    """One entry for each resource."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v1(data: bytes, pos: int) -> DescribeConfigsResponse:
    end = len(data)
    message = new(DescribeConfigsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 11 > end - pos:
        raise Malformed
    results: list[DescribeConfigsResult] = []
    results_count = n
    for _ in range(results_count):
        result_2 = new(DescribeConfigsResult)
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
        result_2.resource_type, n = unpack_bh(data, pos)
        pos += 3
        if n < 0:
            raise Malformed
        stop = pos + n
        result_2.resource_name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 11 > end - pos:
            raise Malformed
        configs: list[DescribeConfigsResourceResult] = []
        configs_count = n
        for _ in range(configs_count):
            config = new(DescribeConfigsResourceResult)
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos:stop].decode()
            pos = stop
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                if n != -1:
                    raise Malformed
                config.value = None
            elif n == 0:
                config.value = ""
            else:
                stop = pos + n
                config.value = data[pos:stop].decode()
                pos = stop
            config.read_only, config.config_source, config.is_sensitive, n = unpack_xbxi(data, pos)
            pos += 7
            if n < 0:
                raise Malformed
            if n * 5 > end - pos:
                raise Malformed
            synonyms: list[DescribeConfigsSynonym] = []
            synonyms_left = n
            synonyms_tries = 4
            while synonyms_left:
                synonyms_start = pos
                synonym = new(DescribeConfigsSynonym)
                (n,) = unpack_h(data, pos)
                pos += 2
                if n < 0:
                    raise Malformed
                stop = pos + n
                synonym.name = data[pos:stop].decode()
                pos = stop
                name_end = pos
                name_n = n
                (n,) = unpack_h(data, pos)
                pos += 2
                if n < 0:
                    if n != -1:
                        raise Malformed
                    synonym.value = None
                elif n == 0:
                    synonym.value = ""
                else:
                    stop = pos + n
                    synonym.value = data[pos:stop].decode()
                    pos = stop
                value_end = pos
                value_n = n
                (synonym.source,) = unpack_b(data, pos)
                pos += 1
                synonym.unknown_tagged_fields = ()
                synonyms.append(synonym)
                synonyms_left -= 1
                if synonyms_tries and synonyms_left >= 12:
                    name_size = name_n
                    same = data[synonyms_start : name_end - name_size]
                    value_null = synonym.value is None
                    value_size = 0 if synonym.value is None else value_n
                    same_2 = data[name_end : value_end - value_size]
                    synonyms_unknown = synonym.unknown_tagged_fields
                    synonyms_done = len(synonyms)
                    synonyms_size = pos - synonyms_start
                    stop = pos + min(synonyms_left, (end - pos) // synonyms_size) * synonyms_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{value_size}sb", memoryview(data)[pos:stop]):
                        gap, name, gap_2, value, source = row
                        if gap != same or gap_2 != same_2:
                            break
                        synonym = new(DescribeConfigsSynonym)
                        synonym.name = name.decode() if name else ""
                        synonym.value = None if value_null else value.decode() if value else ""
                        synonym.source = source
                        synonym.unknown_tagged_fields = synonyms_unknown
                        synonyms.append(synonym)
                    synonyms_done = len(synonyms) - synonyms_done
                    pos += synonyms_done * synonyms_size
                    synonyms_left -= synonyms_done
                    if not synonyms_done:
                        synonyms_tries -= 1
            config.synonyms = synonyms
            config.config_type = 0
            config.documentation = ""
            config.unknown_tagged_fields = ()
            configs.append(config)
        result_2.configs = configs
        result_2.unknown_tagged_fields = ()
        results.append(result_2)
    message.results = results
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v3(data: bytes, pos: int) -> DescribeConfigsResponse:
    end = len(data)
    message = new(DescribeConfigsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 11 > end - pos:
        raise Malformed
    results: list[DescribeConfigsResult] = []
    results_count = n
    for _ in range(results_count):
        result_2 = new(DescribeConfigsResult)
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
        result_2.resource_type, n = unpack_bh(data, pos)
        pos += 3
        if n < 0:
            raise Malformed
        stop = pos + n
        result_2.resource_name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 14 > end - pos:
            raise Malformed
        configs: list[DescribeConfigsResourceResult] = []
        configs_count = n
        for _ in range(configs_count):
            config = new(DescribeConfigsResourceResult)
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos:stop].decode()
            pos = stop
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                if n != -1:
                    raise Malformed
                config.value = None
            elif n == 0:
                config.value = ""
            else:
                stop = pos + n
                config.value = data[pos:stop].decode()
                pos = stop
            config.read_only, config.config_source, config.is_sensitive, n = unpack_xbxi(data, pos)
            pos += 7
            if n < 0:
                raise Malformed
            if n * 5 > end - pos:
                raise Malformed
            synonyms: list[DescribeConfigsSynonym] = []
            synonyms_left = n
            synonyms_tries = 4
            while synonyms_left:
                synonyms_start = pos
                synonym = new(DescribeConfigsSynonym)
                (n,) = unpack_h(data, pos)
                pos += 2
                if n < 0:
                    raise Malformed
                stop = pos + n
                synonym.name = data[pos:stop].decode()
                pos = stop
                name_end = pos
                name_n = n
                (n,) = unpack_h(data, pos)
                pos += 2
                if n < 0:
                    if n != -1:
                        raise Malformed
                    synonym.value = None
                elif n == 0:
                    synonym.value = ""
                else:
                    stop = pos + n
                    synonym.value = data[pos:stop].decode()
                    pos = stop
                value_end = pos
                value_n = n
                (synonym.source,) = unpack_b(data, pos)
                pos += 1
                synonym.unknown_tagged_fields = ()
                synonyms.append(synonym)
                synonyms_left -= 1
                if synonyms_tries and synonyms_left >= 12:
                    name_size = name_n
                    same = data[synonyms_start : name_end - name_size]
                    value_null = synonym.value is None
                    value_size = 0 if synonym.value is None else value_n
                    same_2 = data[name_end : value_end - value_size]
                    synonyms_unknown = synonym.unknown_tagged_fields
                    synonyms_done = len(synonyms)
                    synonyms_size = pos - synonyms_start
                    stop = pos + min(synonyms_left, (end - pos) // synonyms_size) * synonyms_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{value_size}sb", memoryview(data)[pos:stop]):
                        gap, name, gap_2, value, source = row
                        if gap != same or gap_2 != same_2:
                            break
                        synonym = new(DescribeConfigsSynonym)
                        synonym.name = name.decode() if name else ""
                        synonym.value = None if value_null else value.decode() if value else ""
                        synonym.source = source
                        synonym.unknown_tagged_fields = synonyms_unknown
                        synonyms.append(synonym)
                    synonyms_done = len(synonyms) - synonyms_done
                    pos += synonyms_done * synonyms_size
                    synonyms_left -= synonyms_done
                    if not synonyms_done:
                        synonyms_tries -= 1
            config.synonyms = synonyms
            config.config_type, n = unpack_bh(data, pos)
            pos += 3
            if n < 0:
                if n != -1:
                    raise Malformed
                config.documentation = None
            elif n == 0:
                config.documentation = ""
            else:
                stop = pos + n
                config.documentation = data[pos:stop].decode()
                pos = stop
            config.unknown_tagged_fields = ()
            configs.append(config)
        result_2.configs = configs
        result_2.unknown_tagged_fields = ()
        results.append(result_2)
    message.results = results
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v4(data: bytes, pos: int) -> DescribeConfigsResponse:
    end = len(data)
    message = new(DescribeConfigsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 7 > end - pos:
        raise Malformed
    results: list[DescribeConfigsResult] = []
    results_count = n
    for _ in range(results_count):
        result_2 = new(DescribeConfigsResult)
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
        result_2.resource_type, n = unpack_bn(data, pos)
        pos += 1
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        result_2.resource_name = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 9 > end - pos:
            raise Malformed
        configs: list[DescribeConfigsResourceResult] = []
        configs_count = n
        for _ in range(configs_count):
            config = new(DescribeConfigsResourceResult)
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos + 1 : stop].decode()
            pos = stop
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                config.value = None
                pos += 1
            elif n == 1:
                config.value = ""
                pos += 1
            else:
                stop = pos + n
                config.value = data[pos + 1 : stop].decode()
                pos = stop
            config.read_only, config.config_source, config.is_sensitive, n = unpack_xbxn(data, pos)
            pos += 3
            if n < 128:
                pos += 1
            else:
                n, pos = read_uvarint(data, pos)
            if n == 0:
                raise Malformed
            n -= 1
            if n * 4 > end - pos:
                raise Malformed
            synonyms: list[DescribeConfigsSynonym] = []
            synonyms_left = n
            synonyms_tries = 4
            while synonyms_left:
                synonyms_start = pos
                synonym = new(DescribeConfigsSynonym)
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                synonym.name = data[pos + 1 : stop].decode()
                pos = stop
                name_end = pos
                name_n = n
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    synonym.value = None
                    pos += 1
                elif n == 1:
                    synonym.value = ""
                    pos += 1
                else:
                    stop = pos + n
                    synonym.value = data[pos + 1 : stop].decode()
                    pos = stop
                value_end = pos
                value_n = n
                synonym.source, n = unpack_bn(data, pos)
                pos += 1
                if n:
                    n, pos = read_uvarint(data, pos)
                    synonym.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                else:
                    synonym.unknown_tagged_fields = ()
                    pos += 1
                synonyms.append(synonym)
                synonyms_left -= 1
                if synonyms_tries and synonyms_left >= 12:
                    name_size = name_n - 1
                    same = data[synonyms_start : name_end - name_size]
                    value_null = synonym.value is None
                    value_size = 0 if synonym.value is None else value_n - 1
                    same_2 = data[name_end : value_end - value_size]
                    same_3 = data[value_end + 1 : pos]
                    synonyms_unknown = synonym.unknown_tagged_fields
                    synonyms_done = len(synonyms)
                    synonyms_size = pos - synonyms_start
                    stop = pos + min(synonyms_left, (end - pos) // synonyms_size) * synonyms_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{value_size}sb{len(same_3)}s", memoryview(data)[pos:stop]):
                        gap, name, gap_2, value, source, gap_3 = row
                        if gap != same or gap_2 != same_2 or gap_3 != same_3:
                            break
                        synonym = new(DescribeConfigsSynonym)
                        synonym.name = name.decode() if name else ""
                        synonym.value = None if value_null else value.decode() if value else ""
                        synonym.source = source
                        synonym.unknown_tagged_fields = synonyms_unknown
                        synonyms.append(synonym)
                    synonyms_done = len(synonyms) - synonyms_done
                    pos += synonyms_done * synonyms_size
                    synonyms_left -= synonyms_done
                    if not synonyms_done:
                        synonyms_tries -= 1
            config.synonyms = synonyms
            config.config_type, n = unpack_bn(data, pos)
            pos += 1
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                config.documentation = None
                pos += 1
            elif n == 1:
                config.documentation = ""
                pos += 1
            else:
                stop = pos + n
                config.documentation = data[pos + 1 : stop].decode()
                pos = stop
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                config.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                config.unknown_tagged_fields = ()
                pos += 1
            configs.append(config)
        result_2.configs = configs
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            result_2.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            result_2.unknown_tagged_fields = ()
            pos += 1
        results.append(result_2)
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


def _encode_v1(m: DescribeConfigsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.results:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = -1
        else:
            b3 = v5.encode()
            n4 = len(b3)
        b6 = e2.resource_name.encode()
        n7 = len(b6)
        n8 = len(e2.configs)
        out += (pack_hh(e2.error_code, n4), b3, pack_bh(e2.resource_type, n7), b6, pack_i(n8))
        for e9 in e2.configs:
            b10 = e9.name.encode()
            n11 = len(b10)
            v14 = e9.value
            if v14 is None:
                b12 = b""
                n13 = -1
            else:
                b12 = v14.encode()
                n13 = len(b12)
            n15 = len(e9.synonyms)
            out += (pack_h(n11), b10, pack_h(n13), b12, pack_xbxi(e9.read_only, e9.config_source, e9.is_sensitive, n15))
            for e16 in e9.synonyms:
                b17 = e16.name.encode()
                n18 = len(b17)
                v21 = e16.value
                if v21 is None:
                    b19 = b""
                    n20 = -1
                else:
                    b19 = v21.encode()
                    n20 = len(b19)
                out += (pack_h(n18), b17, pack_h(n20), b19, pack_b(e16.source))
    return b"".join(out)


def _encode_v3(m: DescribeConfigsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.results:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = -1
        else:
            b3 = v5.encode()
            n4 = len(b3)
        b6 = e2.resource_name.encode()
        n7 = len(b6)
        n8 = len(e2.configs)
        out += (pack_hh(e2.error_code, n4), b3, pack_bh(e2.resource_type, n7), b6, pack_i(n8))
        for e9 in e2.configs:
            b10 = e9.name.encode()
            n11 = len(b10)
            v14 = e9.value
            if v14 is None:
                b12 = b""
                n13 = -1
            else:
                b12 = v14.encode()
                n13 = len(b12)
            n15 = len(e9.synonyms)
            out += (pack_h(n11), b10, pack_h(n13), b12, pack_xbxi(e9.read_only, e9.config_source, e9.is_sensitive, n15))
            for e16 in e9.synonyms:
                b17 = e16.name.encode()
                n18 = len(b17)
                v21 = e16.value
                if v21 is None:
                    b19 = b""
                    n20 = -1
                else:
                    b19 = v21.encode()
                    n20 = len(b19)
                out += (pack_h(n18), b17, pack_h(n20), b19, pack_b(e16.source))
            v24 = e9.documentation
            if v24 is None:
                b22 = b""
                n23 = -1
            else:
                b22 = v24.encode()
                n23 = len(b22)
            out += (pack_bh(e9.config_type, n23), b22)
    return b"".join(out)


def _encode_v4(m: DescribeConfigsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.results) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.results:
        v5 = e2.error_message
        if v5 is None:
            b3 = b""
            n4 = 0
        else:
            b3 = v5.encode()
            n4 = len(b3) + 1
        b6 = e2.resource_name.encode()
        n7 = len(b6) + 1
        n8 = len(e2.configs) + 1
        out += (
            pack_h(e2.error_code),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_b(e2.resource_type),
            ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
            b6,
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        )
        for e9 in e2.configs:
            b10 = e9.name.encode()
            n11 = len(b10) + 1
            v14 = e9.value
            if v14 is None:
                b12 = b""
                n13 = 0
            else:
                b12 = v14.encode()
                n13 = len(b12) + 1
            n15 = len(e9.synonyms) + 1
            out += (
                ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
                b10,
                ONE_BYTE[n13] if n13 < 128 else write_string_length(n13),
                b12,
                pack_xbx(e9.read_only, e9.config_source, e9.is_sensitive),
                ONE_BYTE[n15] if n15 < 128 else write_uvarint(n15),
            )
            for e16 in e9.synonyms:
                b17 = e16.name.encode()
                n18 = len(b17) + 1
                v21 = e16.value
                if v21 is None:
                    b19 = b""
                    n20 = 0
                else:
                    b19 = v21.encode()
                    n20 = len(b19) + 1
                out += (
                    ONE_BYTE[n18] if n18 < 128 else write_string_length(n18),
                    b17,
                    ONE_BYTE[n20] if n20 < 128 else write_string_length(n20),
                    b19,
                    pack_b(e16.source),
                    write_tagged(e16.unknown_tagged_fields) if e16.unknown_tagged_fields else b"\0",
                )
            v24 = e9.documentation
            if v24 is None:
                b22 = b""
                n23 = 0
            else:
                b22 = v24.encode()
                n23 = len(b22) + 1
            out += (
                pack_b(e9.config_type),
                ONE_BYTE[n23] if n23 < 128 else write_string_length(n23),
                b22,
                write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


DescribeConfigsSynonym.FIELDS = (
    Field("name", "Name", "string", (1, 4)),
    Field("value", "Value", "string", (1, 4), nullable=(1, 4)),
    Field("source", "Source", "int8", (1, 4)),
)
DescribeConfigsResourceResult.FIELDS = (
    Field("name", "Name", "string", (1, 4)),
    Field("value", "Value", "string", (1, 4), nullable=(1, 4)),
    Field("read_only", "ReadOnly", "bool", (1, 4)),
    Field("config_source", "ConfigSource", "int8", (1, 4), ignorable=True),
    Field("is_sensitive", "IsSensitive", "bool", (1, 4)),
    Field("synonyms", "Synonyms", "struct", (1, 4), is_array=True, struct=DescribeConfigsSynonym, ignorable=True),
    Field("config_type", "ConfigType", "int8", (3, 4), ignorable=True),
    Field("documentation", "Documentation", "string", (3, 4), nullable=(1, 4), ignorable=True),
)
DescribeConfigsResult.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (1, 4)),
    Field("error_message", "ErrorMessage", "string", (1, 4), nullable=(1, 4)),
    Field("resource_type", "ResourceType", "int8", (1, 4)),
    Field("resource_name", "ResourceName", "string", (1, 4)),
    Field("configs", "Configs", "struct", (1, 4), is_array=True, struct=DescribeConfigsResourceResult),
)
DescribeConfigsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (1, 4)),
    Field("results", "Results", "struct", (1, 4), is_array=True, struct=DescribeConfigsResult),
)
DescribeConfigsResponse.NAME = "DescribeConfigsResponse"
DescribeConfigsResponse.API_KEY = 32
DescribeConfigsResponse.MIN_VERSION = 1
DescribeConfigsResponse.MAX_VERSION = 4
DescribeConfigsResponse.FLEXIBLE_FROM = 4
DescribeConfigsResponse._DECODERS = {1: _decode_v1, 2: _decode_v1, 3: _decode_v3, 4: _decode_v4}
DescribeConfigsResponse._ENCODERS = {1: _encode_v1, 2: _encode_v1, 3: _encode_v3, 4: _encode_v4}

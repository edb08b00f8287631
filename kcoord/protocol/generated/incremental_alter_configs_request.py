# Generated from schemas/message/IncrementalAlterConfigsRequest.json by `python -m schemas.generator`. Do not edit.
"""IncrementalAlterConfigsRequest, a request, versions 0-1."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request, Struct
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
unpack_x = Format(">?").unpack_from
unpack_xn = Format(">?B").unpack_from
unpack_bn = Format(">bB").unpack_from
unpack_bh = Format(">bh").unpack_from
unpack_h = Format(">h").unpack_from
unpack_i = Format(">i").unpack_from
pack_b = Format(">b").pack
pack_bh = Format(">bh").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class AlterableConfig(Struct):
    name: str = ""
    """The setting's name."""
    config_operation: int = 0
    """0 set, 1 delete, 2 append to a list, 3 take out of a list."""
    value: str | None = ""
    """The value, or what is appended or taken out; null with delete."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class AlterConfigsResource(Struct):
    resource_type: int = 0
    """What kind of resource it is: 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group."""
    resource_name: str = ""
    """Its name."""
    configs: list[AlterableConfig] = attrs.Factory(list)
    """The changes."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class IncrementalAlterConfigsRequest(Request):
    """Changes single settings of resources and leaves the others as they are."""

    resources: list[AlterConfigsResource] = attrs.Factory(list)
    """Whose settings are to change, and how."""
    validate_only: bool = False
    """Whether to check only, and change nothing."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> IncrementalAlterConfigsRequest:
    end = len(data)
    message = new(IncrementalAlterConfigsRequest)
    (n,) = unpack_i(data, pos)
    pos += 4
    if n < 0:
        raise Malformed
    if n * 7 > end - pos:
        raise Malformed
    resources: list[AlterConfigsResource] = []
    resources_count = n
    for _ in range(resources_count):
        resource = new(AlterConfigsResource)
        resource.resource_type, n = unpack_bh(data, pos)
        pos += 3
        if n < 0:
            raise Malformed
        stop = pos + n
        resource.resource_name = data[pos:stop].decode()
        pos = stop
        (n,) = unpack_i(data, pos)
        pos += 4
        if n < 0:
            raise Malformed
        if n * 5 > end - pos:
            raise Malformed
        configs: list[AlterableConfig] = []
        configs_left = n
        configs_tries = 4
        while configs_left:
            configs_start = pos
            config = new(AlterableConfig)
            (n,) = unpack_h(data, pos)
            pos += 2
            if n < 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos:stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            config.config_operation, n = unpack_bh(data, pos)
            pos += 3
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
            value_end = pos
            value_n = n
            config.unknown_tagged_fields = ()
            configs.append(config)
            configs_left -= 1
            if configs_tries and configs_left >= 12:
                name_size = name_n
                same = data[configs_start : name_end - name_size]
                value_null = config.value is None
                value_size = 0 if config.value is None else value_n
                same_2 = data[name_end + 1 : value_end - value_size]
                configs_unknown = config.unknown_tagged_fields
                configs_done = len(configs)
                configs_size = pos - configs_start
                stop = pos + min(configs_left, (end - pos) // configs_size) * configs_size
                for row in iter_unpack(f">{len(same)}s{name_size}sb{len(same_2)}s{value_size}s", memoryview(data)[pos:stop]):
                    gap, name, config_operation, gap_2, value = row
                    if gap != same or gap_2 != same_2:
                        break
                    config = new(AlterableConfig)
                    config.name = name.decode() if name else ""
                    config.config_operation = config_operation
                    config.value = None if value_null else value.decode() if value else ""
                    config.unknown_tagged_fields = configs_unknown
                    configs.append(config)
                configs_done = len(configs) - configs_done
                pos += configs_done * configs_size
                configs_left -= configs_done
                if not configs_done:
                    configs_tries -= 1
        resource.configs = configs
        resource.unknown_tagged_fields = ()
        resources.append(resource)
    message.resources = resources
    (message.validate_only,) = unpack_x(data, pos)
    pos += 1
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v1(data: bytes, pos: int) -> IncrementalAlterConfigsRequest:
    end = len(data)
    message = new(IncrementalAlterConfigsRequest)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 4 > end - pos:
        raise Malformed
    resources: list[AlterConfigsResource] = []
    resources_count = n
    for _ in range(resources_count):
        resource = new(AlterConfigsResource)
        resource.resource_type, n = unpack_bn(data, pos)
        pos += 1
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        resource.resource_name = data[pos + 1 : stop].decode()
        pos = stop
        n = data[pos]
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            raise Malformed
        n -= 1
        if n * 4 > end - pos:
            raise Malformed
        configs: list[AlterableConfig] = []
        configs_left = n
        configs_tries = 4
        while configs_left:
            configs_start = pos
            config = new(AlterableConfig)
            n = data[pos]
            if n > 127:
                n, pos = read_string_length(data, pos)
                pos -= 1
            if n == 0:
                raise Malformed
            stop = pos + n
            config.name = data[pos + 1 : stop].decode()
            pos = stop
            name_end = pos
            name_n = n
            config.config_operation, n = unpack_bn(data, pos)
            pos += 1
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
            value_end = pos
            value_n = n
            n = data[pos]
            if n:
                n, pos = read_uvarint(data, pos)
                config.unknown_tagged_fields, pos = read_tagged(data, pos, n)
            else:
                config.unknown_tagged_fields = ()
                pos += 1
            configs.append(config)
            configs_left -= 1
            if configs_tries and configs_left >= 12:
                name_size = name_n - 1
                same = data[configs_start : name_end - name_size]
                value_null = config.value is None
                value_size = 0 if config.value is None else value_n - 1
                same_2 = data[name_end + 1 : value_end - value_size]
                same_3 = data[value_end : pos]
                configs_unknown = config.unknown_tagged_fields
                configs_done = len(configs)
                configs_size = pos - configs_start
                stop = pos + min(configs_left, (end - pos) // configs_size) * configs_size
                for row in iter_unpack(f">{len(same)}s{name_size}sb{len(same_2)}s{value_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                    gap, name, config_operation, gap_2, value, gap_3 = row
                    if gap != same or gap_2 != same_2 or gap_3 != same_3:
                        break
                    config = new(AlterableConfig)
                    config.name = name.decode() if name else ""
                    config.config_operation = config_operation
                    config.value = None if value_null else value.decode() if value else ""
                    config.unknown_tagged_fields = configs_unknown
                    configs.append(config)
                configs_done = len(configs) - configs_done
                pos += configs_done * configs_size
                configs_left -= configs_done
                if not configs_done:
                    configs_tries -= 1
        resource.configs = configs
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            resource.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            resource.unknown_tagged_fields = ()
            pos += 1
        resources.append(resource)
    message.resources = resources
    message.validate_only, n = unpack_xn(data, pos)
    pos += 1
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: IncrementalAlterConfigsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.resources)
    out.append(pack_i(n1))
    for e2 in m.resources:
        b3 = e2.resource_name.encode()
        n4 = len(b3)
        n5 = len(e2.configs)
        out += (pack_bh(e2.resource_type, n4), b3, pack_i(n5))
        for e6 in e2.configs:
            b7 = e6.name.encode()
            n8 = len(b7)
            v11 = e6.value
            if v11 is None:
                b9 = b""
                n10 = -1
            else:
                b9 = v11.encode()
                n10 = len(b9)
            out += (pack_h(n8), b7, pack_bh(e6.config_operation, n10), b9)
    out.append(b"\1" if m.validate_only else b"\0")
    return b"".join(out)


def _encode_v1(m: IncrementalAlterConfigsRequest) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.resources) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.resources:
        b3 = e2.resource_name.encode()
        n4 = len(b3) + 1
        n5 = len(e2.configs) + 1
        out += (
            pack_b(e2.resource_type),
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n5] if n5 < 128 else write_uvarint(n5),
        )
        for e6 in e2.configs:
            b7 = e6.name.encode()
            n8 = len(b7) + 1
            v11 = e6.value
            if v11 is None:
                b9 = b""
                n10 = 0
            else:
                b9 = v11.encode()
                n10 = len(b9) + 1
            out += (
                ONE_BYTE[n8] if n8 < 128 else write_string_length(n8),
                b7,
                pack_b(e6.config_operation),
                ONE_BYTE[n10] if n10 < 128 else write_string_length(n10),
                b9,
                write_tagged(e6.unknown_tagged_fields) if e6.unknown_tagged_fields else b"\0",
            )
        out.append(write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0")
    out += (
        b"\1" if m.validate_only else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    )
    return b"".join(out)


AlterableConfig.FIELDS = (
    Field("name", "Name", "string", (0, 1)),
    Field("config_operation", "ConfigOperation", "int8", (0, 1)),
    Field("value", "Value", "string", (0, 1), nullable=(0, 1)),
)
AlterConfigsResource.FIELDS = (
    Field("resource_type", "ResourceType", "int8", (0, 1)),
    Field("resource_name", "ResourceName", "string", (0, 1)),
    Field("configs", "Configs", "struct", (0, 1), is_array=True, struct=AlterableConfig),
)
IncrementalAlterConfigsRequest.FIELDS = (
    Field("resources", "Resources", "struct", (0, 1), is_array=True, struct=AlterConfigsResource),
    Field("validate_only", "ValidateOnly", "bool", (0, 1)),
)
IncrementalAlterConfigsRequest.NAME = "IncrementalAlterConfigsRequest"
IncrementalAlterConfigsRequest.API_KEY = 44
IncrementalAlterConfigsRequest.MIN_VERSION = 0
IncrementalAlterConfigsRequest.MAX_VERSION = 1
IncrementalAlterConfigsRequest.FLEXIBLE_FROM = 1
IncrementalAlterConfigsRequest._DECODERS = {0: _decode_v0, 1: _decode_v1}
IncrementalAlterConfigsRequest._ENCODERS = {0: _encode_v0, 1: _encode_v1}

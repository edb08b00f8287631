# Generated from schemas/record/ConnectWorkerGroupConfigurationValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupConfigurationValue, a record value, versions 0."""

from __future__ import annotations

from struct import iter_unpack

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue, Struct
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
from kcoord.protocol.skipping import alike, skip_string, skip_tagged

new = object.__new__


@attrs.define(slots=True, weakref_slot=False)
class Configuration(Struct):
    name: str = ""
    """The setting's name."""
    value: str = ""
    """Its value."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupConfigurationValue(RecordValue):
    """The settings that were made for one connect group."""

    configurations: list[Configuration] = attrs.Factory(list)
    """The settings."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupConfigurationValue:
    end = len(data)
    message = new(ConnectWorkerGroupConfigurationValue)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 3 > end - pos:
        raise Malformed
    configurations: list[Configuration] = []
    configurations_left = n
    configurations_tries = 4
    while configurations_left:
        configurations_start = pos
        configuration = new(Configuration)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        configuration.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        configuration.value = data[pos + 1 : stop].decode()
        pos = stop
        value_end = pos
        value_n = n
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            configuration.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            configuration.unknown_tagged_fields = ()
            pos += 1
        configurations.append(configuration)
        configurations_left -= 1
        if configurations_tries and configurations_left >= 12:
            name_size = name_n - 1
            same = data[configurations_start : name_end - name_size]
            value_size = value_n - 1
            same_2 = data[name_end : value_end - value_size]
            same_3 = data[value_end : pos]
            configurations_unknown = configuration.unknown_tagged_fields
            configurations_done = len(configurations)
            configurations_size = pos - configurations_start
            stop = pos + min(configurations_left, (end - pos) // configurations_size) * configurations_size
            for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{value_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, gap_2, value, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                configuration = new(Configuration)
                configuration.name = name.decode() if name else ""
                configuration.value = value.decode() if value else ""
                configuration.unknown_tagged_fields = configurations_unknown
                configurations.append(configuration)
            configurations_done = len(configurations) - configurations_done
            pos += configurations_done * configurations_size
            configurations_left -= configurations_done
            if not configurations_done:
                configurations_tries -= 1
    message.configurations = configurations
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


def _encode_v0(m: ConnectWorkerGroupConfigurationValue) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.configurations) + 1
    out.append(ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.configurations:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        b5 = e2.value.encode()
        n6 = len(b5) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            write_tagged(e2.unknown_tagged_fields) if e2.unknown_tagged_fields else b"\0",
        )
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    configuration_left = n - 1
    configuration_tries = 4
    while configuration_left:
        configuration_start = pos
        n = data[pos]
        place = pos
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos]
        place_2 = pos
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos]
        place_3 = pos
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
        configuration_left -= 1
        if configuration_tries and configuration_left >= 5 and not n:
            configuration_same = alike(data, configuration_start, pos, configuration_left, (place, place_2, place_3))
            pos += configuration_same * (pos - configuration_start)
            configuration_left -= configuration_same
            if not configuration_same:
                configuration_tries -= 1
    n = data[pos]
    if n:
        pos = skip_tagged(data, pos)
    else:
        pos += 1
    if pos != len(data):
        raise Malformed
    return None


Configuration.FIELDS = (
    Field("name", "Name", "string", (0, 0)),
    Field("value", "Value", "string", (0, 0)),
)
ConnectWorkerGroupConfigurationValue.FIELDS = (
    Field("configurations", "Configurations", "struct", (0, 0), is_array=True, struct=Configuration),
)
ConnectWorkerGroupConfigurationValue.NAME = "ConnectWorkerGroupConfigurationValue"
ConnectWorkerGroupConfigurationValue.API_KEY = 8
ConnectWorkerGroupConfigurationValue.MIN_VERSION = 0
ConnectWorkerGroupConfigurationValue.MAX_VERSION = 0
ConnectWorkerGroupConfigurationValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupConfigurationValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupConfigurationValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupConfigurationValue.EPOCH = None
ConnectWorkerGroupConfigurationValue._CHECKS = {0: _check_v0}

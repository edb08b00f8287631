# Generated from schemas/message/CreateTopicsResponse.json by `python -m schemas.generator`. Do not edit.
"""CreateTopicsResponse, a response, versions 2-7."""

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
unpack_xbxn = Format(">?b?B").unpack_from
unpack_h = Format(">h").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_hh = Format(">hh").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_ihn = Format(">ihB").unpack_from
unpack_ii = Format(">ii").unpack_from
pack_uh = Format(">16sh").pack
pack_xbx = Format(">?b?").pack
pack_h = Format(">h").pack
pack_hh = Format(">hh").pack
pack_i = Format(">i").pack
pack_ih = Format(">ih").pack
pack_ii = Format(">ii").pack


@attrs.define(slots=True, weakref_slot=False)
class CreatableTopicConfigs(Struct):
    name: str = ""
    """The setting's name. Since version 5."""
    value: str | None = ""
    """Its value. Since version 5."""
    read_only: bool = False
    """Whether it cannot be changed. Since version 5."""
    config_source: int = -1
    """Where the value comes from. Since version 5."""
    is_sensitive: bool = False
    """Whether the value is a secret. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreatableTopicResult(Struct):
    name: str = ""
    """The topic's name."""
    topic_id: bytes = ZERO_UUID
    """Its id. Since version 7."""
    error_code: int = 0
    """The error, or 0."""
    error_message: str | None = ""
    """Text to the error, or null."""
    topic_config_error_code: int = 0
    """Why the settings are not told, or 0. Since version 5."""
    num_partitions: int = -1
    """How many partitions it has. Since version 5."""
    replication_factor: int = -1
    """How many replicas each has. Since version 5."""
    configs: list[CreatableTopicConfigs] | None = attrs.Factory(list)
    """The topic's settings. Since version 5."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class CreateTopicsResponse(Response):
    """Which topics were created."""

    throttle_time_ms: int = 0
    """How long the client is held back by a quota, in ms; 0: not at all."""
    topics: list[CreatableTopicResult] = attrs.Factory(list)
    """One entry for each topic."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v2(data: bytes, pos: int) -> CreateTopicsResponse:
    end = len(data)
    message = new(CreateTopicsResponse)
    message.throttle_time_ms, n = unpack_ii(data, pos)
    pos += 8
    if n < 0:
        raise Malformed
    if n * 6 > end - pos:
        raise Malformed
    topics: list[CreatableTopicResult] = []
    topics_left = n
    topics_tries = 4
    while topics_left:
        topics_start = pos
        topic = new(CreatableTopicResult)
        (n,) = unpack_h(data, pos)
        pos += 2
        if n < 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos:stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        topic.topic_id = ZERO_UUID
        topic.error_code, n = unpack_hh(data, pos)
        pos += 4
        if n < 0:
            if n != -1:
                raise Malformed
            topic.error_message = None
        elif n == 0:
            topic.error_message = ""
        else:
            stop = pos + n
            topic.error_message = data[pos:stop].decode()
            pos = stop
        error_message_end = pos
        error_message_n = n
        topic.topic_config_error_code = 0
        topic.num_partitions = -1
        topic.replication_factor = -1
        topic.configs = []
        topic.unknown_tagged_fields = ()
        topics.append(topic)
        topics_left -= 1
        if topics_tries and topics_left >= 12:
            name_size = name_n
            same = data[topics_start : name_end - name_size]
            error_message_null = topic.error_message is None
            error_message_size = 0 if topic.error_message is None else error_message_n
            same_2 = data[name_end + 2 : error_message_end - error_message_size]
            topics_unknown = topic.unknown_tagged_fields
            topics_done = len(topics)
            topics_size = pos - topics_start
            stop = pos + min(topics_left, (end - pos) // topics_size) * topics_size
            for row in iter_unpack(f">{len(same)}s{name_size}sh{len(same_2)}s{error_message_size}s", memoryview(data)[pos:stop]):
                gap, name, error_code, gap_2, error_message = row
                if gap != same or gap_2 != same_2:
                    break
                topic = new(CreatableTopicResult)
                topic.name = name.decode() if name else ""
                topic.error_code = error_code
                topic.error_message = None if error_message_null else error_message.decode() if error_message else ""
                topic.topic_id = ZERO_UUID
                topic.topic_config_error_code = 0
                topic.num_partitions = -1
                topic.replication_factor = -1
                topic.configs = []
                topic.unknown_tagged_fields = topics_unknown
                topics.append(topic)
            topics_done = len(topics) - topics_done
            pos += topics_done * topics_size
            topics_left -= topics_done
            if not topics_done:
                topics_tries -= 1
    message.topics = topics
    message.unknown_tagged_fields = ()
    if pos != len(data):
        raise Malformed
    return message


def _decode_v5(data: bytes, pos: int) -> CreateTopicsResponse:
    end = len(data)
    message = new(CreateTopicsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 12 > end - pos:
        raise Malformed
    topics: list[CreatableTopicResult] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(CreatableTopicResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.topic_id = ZERO_UUID
        topic.error_code, n = unpack_hn(data, pos)
        pos += 2
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            topic.error_message = None
            pos += 1
        elif n == 1:
            topic.error_message = ""
            pos += 1
        else:
            stop = pos + n
            topic.error_message = data[pos + 1 : stop].decode()
            pos = stop
        topic.num_partitions, topic.replication_factor, n = unpack_ihn(data, pos)
        pos += 6
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            topic.configs = None
        else:
            n -= 1
            if n * 6 > end - pos:
                raise Malformed
            configs: list[CreatableTopicConfigs] = []
            configs_left = n
            configs_tries = 4
            while configs_left:
                configs_start = pos
                config = new(CreatableTopicConfigs)
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
                value_end = pos
                value_n = n
                config.read_only, config.config_source, config.is_sensitive, n = unpack_xbxn(data, pos)
                pos += 3
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
                    same_2 = data[name_end : value_end - value_size]
                    same_3 = data[value_end + 3 : pos]
                    configs_unknown = config.unknown_tagged_fields
                    configs_done = len(configs)
                    configs_size = pos - configs_start
                    stop = pos + min(configs_left, (end - pos) // configs_size) * configs_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{value_size}s?b?{len(same_3)}s", memoryview(data)[pos:stop]):
                        gap, name, gap_2, value, read_only, config_source, is_sensitive, gap_3 = row
                        if gap != same or gap_2 != same_2 or gap_3 != same_3:
                            break
                        config = new(CreatableTopicConfigs)
                        config.name = name.decode() if name else ""
                        config.value = None if value_null else value.decode() if value else ""
                        config.read_only = read_only
                        config.config_source = config_source
                        config.is_sensitive = is_sensitive
                        config.unknown_tagged_fields = configs_unknown
                        configs.append(config)
                    configs_done = len(configs) - configs_done
                    pos += configs_done * configs_size
                    configs_left -= configs_done
                    if not configs_done:
                        configs_tries -= 1
            topic.configs = configs
        topic.topic_config_error_code = 0
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic_others = []
            topic_tag_count = n
            for _ in range(topic_tag_count):
                topic_tag, pos = read_uvarint(data, pos)
                n, pos = read_uvarint(data, pos)
                topic_stop = pos + n
                if topic_stop > len(data):
                    raise Malformed
                if topic_tag == 0:
                    (topic.topic_config_error_code,) = unpack_h(data, pos)
                    pos += 2
                else:
                    topic_others.append((topic_tag, data[pos:topic_stop]))
                    pos = topic_stop
                if pos != topic_stop:
                    raise Malformed
            topic.unknown_tagged_fields = tuple(topic_others)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
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


def _decode_v7(data: bytes, pos: int) -> CreateTopicsResponse:
    end = len(data)
    message = new(CreateTopicsResponse)
    message.throttle_time_ms, n = unpack_in(data, pos)
    pos += 4
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 28 > end - pos:
        raise Malformed
    topics: list[CreatableTopicResult] = []
    topics_count = n
    for _ in range(topics_count):
        topic = new(CreatableTopicResult)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        topic.name = data[pos + 1 : stop].decode()
        pos = stop
        topic.topic_id, topic.error_code, n = unpack_uhn(data, pos)
        pos += 18
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            topic.error_message = None
            pos += 1
        elif n == 1:
            topic.error_message = ""
            pos += 1
        else:
            stop = pos + n
            topic.error_message = data[pos + 1 : stop].decode()
            pos = stop
        topic.num_partitions, topic.replication_factor, n = unpack_ihn(data, pos)
        pos += 6
        if n < 128:
            pos += 1
        else:
            n, pos = read_uvarint(data, pos)
        if n == 0:
            topic.configs = None
        else:
            n -= 1
            if n * 6 > end - pos:
                raise Malformed
            configs: list[CreatableTopicConfigs] = []
            configs_left = n
            configs_tries = 4
            while configs_left:
                configs_start = pos
                config = new(CreatableTopicConfigs)
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
                value_end = pos
                value_n = n
                config.read_only, config.config_source, config.is_sensitive, n = unpack_xbxn(data, pos)
                pos += 3
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
                    same_2 = data[name_end : value_end - value_size]
                    same_3 = data[value_end + 3 : pos]
                    configs_unknown = config.unknown_tagged_fields
                    configs_done = len(configs)
                    configs_size = pos - configs_start
                    stop = pos + min(configs_left, (end - pos) // configs_size) * configs_size
                    for row in iter_unpack(f">{len(same)}s{name_size}s{len(same_2)}s{value_size}s?b?{len(same_3)}s", memoryview(data)[pos:stop]):
                        gap, name, gap_2, value, read_only, config_source, is_sensitive, gap_3 = row
                        if gap != same or gap_2 != same_2 or gap_3 != same_3:
                            break
                        config = new(CreatableTopicConfigs)
                        config.name = name.decode() if name else ""
                        config.value = None if value_null else value.decode() if value else ""
                        config.read_only = read_only
                        config.config_source = config_source
                        config.is_sensitive = is_sensitive
                        config.unknown_tagged_fields = configs_unknown
                        configs.append(config)
                    configs_done = len(configs) - configs_done
                    pos += configs_done * configs_size
                    configs_left -= configs_done
                    if not configs_done:
                        configs_tries -= 1
            topic.configs = configs
        topic.topic_config_error_code = 0
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            topic_others = []
            topic_tag_count = n
            for _ in range(topic_tag_count):
                topic_tag, pos = read_uvarint(data, pos)
                n, pos = read_uvarint(data, pos)
                topic_stop = pos + n
                if topic_stop > len(data):
                    raise Malformed
                if topic_tag == 0:
                    (topic.topic_config_error_code,) = unpack_h(data, pos)
                    pos += 2
                else:
                    topic_others.append((topic_tag, data[pos:topic_stop]))
                    pos = topic_stop
                if pos != topic_stop:
                    raise Malformed
            topic.unknown_tagged_fields = tuple(topic_others)
        else:
            topic.unknown_tagged_fields = ()
            pos += 1
        topics.append(topic)
    message.topics = topics
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


def _encode_v2(m: CreateTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics)
    out.append(pack_ii(m.throttle_time_ms, n1))
    for e2 in m.topics:
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


def _encode_v5(m: CreateTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        v7 = e2.error_message
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        a9 = e2.configs
        n8 = 0 if a9 is None else len(a9) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_h(e2.error_code),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            pack_ih(e2.num_partitions, e2.replication_factor),
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        )
        for e10 in a9 or ():
            b11 = e10.name.encode()
            n12 = len(b11) + 1
            v15 = e10.value
            if v15 is None:
                b13 = b""
                n14 = 0
            else:
                b13 = v15.encode()
                n14 = len(b13) + 1
            out += (
                ONE_BYTE[n12] if n12 < 128 else write_string_length(n12),
                b11,
                ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
                b13,
                pack_xbx(e10.read_only, e10.config_source, e10.is_sensitive),
                write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0",
            )
        tagged16: list[tuple[int, bytes]] = [*e2.unknown_tagged_fields]
        if e2.topic_config_error_code != 0:
            tagged16.append((0, pack_h(e2.topic_config_error_code)))
        out.append(write_tagged(tagged16) if tagged16 else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


def _encode_v7(m: CreateTopicsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.topics) + 1
    out += (pack_i(m.throttle_time_ms), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.topics:
        b3 = e2.name.encode()
        n4 = len(b3) + 1
        if len(e2.topic_id) != 16:
            raise EncodeError("TopicId is not 16 bytes long")
        v7 = e2.error_message
        if v7 is None:
            b5 = b""
            n6 = 0
        else:
            b5 = v7.encode()
            n6 = len(b5) + 1
        a9 = e2.configs
        n8 = 0 if a9 is None else len(a9) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_uh(e2.topic_id, e2.error_code),
            ONE_BYTE[n6] if n6 < 128 else write_string_length(n6),
            b5,
            pack_ih(e2.num_partitions, e2.replication_factor),
            ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
        )
        for e10 in a9 or ():
            b11 = e10.name.encode()
            n12 = len(b11) + 1
            v15 = e10.value
            if v15 is None:
                b13 = b""
                n14 = 0
            else:
                b13 = v15.encode()
                n14 = len(b13) + 1
            out += (
                ONE_BYTE[n12] if n12 < 128 else write_string_length(n12),
                b11,
                ONE_BYTE[n14] if n14 < 128 else write_string_length(n14),
                b13,
                pack_xbx(e10.read_only, e10.config_source, e10.is_sensitive),
                write_tagged(e10.unknown_tagged_fields) if e10.unknown_tagged_fields else b"\0",
            )
        tagged16: list[tuple[int, bytes]] = [*e2.unknown_tagged_fields]
        if e2.topic_config_error_code != 0:
            tagged16.append((0, pack_h(e2.topic_config_error_code)))
        out.append(write_tagged(tagged16) if tagged16 else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


CreatableTopicConfigs.FIELDS = (
    Field("name", "Name", "string", (5, 7)),
    Field("value", "Value", "string", (5, 7), nullable=(5, 7)),
    Field("read_only", "ReadOnly", "bool", (5, 7)),
    Field("config_source", "ConfigSource", "int8", (5, 7), ignorable=True),
    Field("is_sensitive", "IsSensitive", "bool", (5, 7)),
)
CreatableTopicResult.FIELDS = (
    Field("name", "Name", "string", (2, 7), entity="topicName"),
    Field("topic_id", "TopicId", "uuid", (7, 7), ignorable=True),
    Field("error_code", "ErrorCode", "int16", (2, 7)),
    Field("error_message", "ErrorMessage", "string", (2, 7), nullable=(2, 7), ignorable=True),
    Field("topic_config_error_code", "TopicConfigErrorCode", "int16", (5, 7), tag=0, tagged=(5, 7), ignorable=True),
    Field("num_partitions", "NumPartitions", "int32", (5, 7), ignorable=True),
    Field("replication_factor", "ReplicationFactor", "int16", (5, 7), ignorable=True),
    Field(
        "configs",
        "Configs",
        "struct",
        (5, 7),
        is_array=True,
        nullable=(5, 7),
        struct=CreatableTopicConfigs,
        ignorable=True,
    ),
)
CreateTopicsResponse.FIELDS = (
    Field("throttle_time_ms", "ThrottleTimeMs", "int32", (2, 7), ignorable=True),
    Field("topics", "Topics", "struct", (2, 7), is_array=True, struct=CreatableTopicResult),
)
CreateTopicsResponse.NAME = "CreateTopicsResponse"
CreateTopicsResponse.API_KEY = 19
CreateTopicsResponse.MIN_VERSION = 2
CreateTopicsResponse.MAX_VERSION = 7
CreateTopicsResponse.FLEXIBLE_FROM = 5
CreateTopicsResponse._DECODERS = {
    2: _decode_v2,
    3: _decode_v2,
    4: _decode_v2,
    5: _decode_v5,
    6: _decode_v5,
    7: _decode_v7,
}
CreateTopicsResponse._ENCODERS = {
    2: _encode_v2,
    3: _encode_v2,
    4: _encode_v2,
    5: _encode_v5,
    6: _encode_v5,
    7: _encode_v7,
}

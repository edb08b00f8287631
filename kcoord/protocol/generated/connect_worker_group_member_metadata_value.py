# Generated from schemas/record/ConnectWorkerGroupMemberMetadataValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupMemberMetadataValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format, iter_unpack

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
from kcoord.protocol.skipping import alike, skip_bytes, skip_string, skip_tagged

new = object.__new__
unpack_hhbhn = Format(">hhbhB").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_iin = Format(">iiB").unpack_from
unpack_qn = Format(">qB").unpack_from
pack_b = Format(">b").pack
pack_hhbh = Format(">hhbh").pack
pack_i = Format(">i").pack
pack_ii = Format(">ii").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class Assignor(Struct):
    name: str = ""
    """The assignor's name."""
    minimum_version: int = 0
    """The lowest version of metadata that the member can read with it."""
    maximum_version: int = 0
    """The highest version that it can read."""
    reason: int = 0
    """Why the metadata changed, in the assignor's own numbers; 0: no reason."""
    version: int = 0
    """The version that Metadata is written in."""
    metadata: bytes = b""
    """What the assignor wants to be told of this member, opaque."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ClassicMemberMetadata(Struct):
    protocols: list[str] = attrs.Factory(list)
    """The embedded protocols that it speaks, the one that it likes best first."""
    config_offset: int = -1
    """How far it had read the workers' configuration topic when it joined last."""
    known_leader: str | None = None
    """The leader that its last assignment named, by its url, or by its id where it has none; or null."""
    known_protocol: str | None = None
    """The embedded protocol that its last assignment was written in, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupMemberMetadataValue(RecordValue):
    """What a member of a connect group said of itself."""

    group_epoch: int = 0
    """The group's epoch when it said so."""
    instance_id: str | None = None
    """Its static name, or null."""
    client_id: str = ""
    """The client id that it gave."""
    client_host: str = ""
    """The address that it connects from, with a leading slash."""
    assignors: list[Assignor] = attrs.Factory(list)
    """Assignors that it can run, the one that it likes best first."""
    url: str | None = None
    """Where the worker's REST interface is, or null."""
    rebalance_timeout_ms: int = 0
    """How long it may take to let go of what it must give up, in ms."""
    session_timeout_ms: int = 0
    """It is lost after this time without a heartbeat, in ms."""
    server_assignor: str | None = None
    """The coordinator's assignor that it wishes, or null."""
    classic: ClassicMemberMetadata | None = None
    """What a worker that speaks the classic protocol said in its JoinGroup; null: it speaks the new one."""
    trouble: str | None = None
    """What it said that goes wrong in it, in words for people, or null."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupMemberMetadataValue:
    end = len(data)
    message = new(ConnectWorkerGroupMemberMetadataValue)
    message.group_epoch, n = unpack_in(data, pos)
    pos += 4
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.instance_id = None
        pos += 1
    elif n == 1:
        message.instance_id = ""
        pos += 1
    else:
        stop = pos + n
        message.instance_id = data[pos + 1 : stop].decode()
        pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.client_id = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        raise Malformed
    stop = pos + n
    message.client_host = data[pos + 1 : stop].decode()
    pos = stop
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 10 > end - pos:
        raise Malformed
    assignors: list[Assignor] = []
    assignors_left = n
    assignors_tries = 4
    while assignors_left:
        assignors_start = pos
        assignor = new(Assignor)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignor.name = data[pos + 1 : stop].decode()
        pos = stop
        name_end = pos
        name_n = n
        assignor.minimum_version, assignor.maximum_version, assignor.reason, assignor.version, n = unpack_hhbhn(data, pos)
        pos += 7
        if n > 127:
            pos += 1
            n += (data[pos] << 7) - 128
            if n > 16383:
                n, pos = read_uvarint(data, pos - 1)
                pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        assignor.metadata = data[pos + 1 : stop]
        pos = stop
        metadata_end = pos
        n = data[pos]
        if n:
            n, pos = read_uvarint(data, pos)
            assignor.unknown_tagged_fields, pos = read_tagged(data, pos, n)
        else:
            assignor.unknown_tagged_fields = ()
            pos += 1
        assignors.append(assignor)
        assignors_left -= 1
        if assignors_tries and assignors_left >= 12:
            name_size = name_n - 1
            same = data[assignors_start : name_end - name_size]
            metadata_size = len(assignor.metadata)
            same_2 = data[name_end + 7 : metadata_end - metadata_size]
            same_3 = data[metadata_end : pos]
            assignors_unknown = assignor.unknown_tagged_fields
            assignors_done = len(assignors)
            assignors_size = pos - assignors_start
            stop = pos + min(assignors_left, (end - pos) // assignors_size) * assignors_size
            for row in iter_unpack(f">{len(same)}s{name_size}shhbh{len(same_2)}s{metadata_size}s{len(same_3)}s", memoryview(data)[pos:stop]):
                gap, name, minimum_version, maximum_version, reason, version, gap_2, metadata, gap_3 = row
                if gap != same or gap_2 != same_2 or gap_3 != same_3:
                    break
                assignor = new(Assignor)
                assignor.name = name.decode() if name else ""
                assignor.minimum_version = minimum_version
                assignor.maximum_version = maximum_version
                assignor.reason = reason
                assignor.version = version
                assignor.metadata = metadata
                assignor.unknown_tagged_fields = assignors_unknown
                assignors.append(assignor)
            assignors_done = len(assignors) - assignors_done
            pos += assignors_done * assignors_size
            assignors_left -= assignors_done
            if not assignors_done:
                assignors_tries -= 1
    message.assignors = assignors
    n = data[pos]
    if n > 127:
        n, pos = read_string_length(data, pos)
        pos -= 1
    if n == 0:
        message.url = None
        pos += 1
    elif n == 1:
        message.url = ""
        pos += 1
    else:
        stop = pos + n
        message.url = data[pos + 1 : stop].decode()
        pos = stop
    message.server_assignor = None
    message.classic = None
    message.trouble = None
    message.rebalance_timeout_ms, message.session_timeout_ms, n = unpack_iin(data, pos)
    pos += 8
    if n:
        n, pos = read_uvarint(data, pos)
        message_others = []
        message_tag_count = n
        for _ in range(message_tag_count):
            message_tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            message_stop = pos + n
            if message_stop > len(data):
                raise Malformed
            if message_tag == 0:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.server_assignor = None
                    pos += 1
                elif n == 1:
                    message.server_assignor = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.server_assignor = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                n = data[pos]
                pos += 1
                if n == 0:
                    message.classic = None
                else:
                    classic = new(ClassicMemberMetadata)
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    n -= 1
                    if n > end - pos:
                        raise Malformed
                    protocols: list[str] = []
                    protocols_count = n
                    for _ in range(protocols_count):
                        n = data[pos]
                        if n > 127:
                            n, pos = read_string_length(data, pos)
                            pos -= 1
                        if n == 0:
                            raise Malformed
                        stop = pos + n
                        protocol = data[pos + 1 : stop].decode()
                        pos = stop
                        protocols.append(protocol)
                    classic.protocols = protocols
                    classic.config_offset, n = unpack_qn(data, pos)
                    pos += 8
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        classic.known_leader = None
                        pos += 1
                    elif n == 1:
                        classic.known_leader = ""
                        pos += 1
                    else:
                        stop = pos + n
                        classic.known_leader = data[pos + 1 : stop].decode()
                        pos = stop
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        classic.known_protocol = None
                        pos += 1
                    elif n == 1:
                        classic.known_protocol = ""
                        pos += 1
                    else:
                        stop = pos + n
                        classic.known_protocol = data[pos + 1 : stop].decode()
                        pos = stop
                    n = data[pos]
                    if n:
                        n, pos = read_uvarint(data, pos)
                        classic.unknown_tagged_fields, pos = read_tagged(data, pos, n)
                    else:
                        classic.unknown_tagged_fields = ()
                        pos += 1
                    message.classic = classic
            elif message_tag == 2:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.trouble = None
                    pos += 1
                elif n == 1:
                    message.trouble = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.trouble = data[pos + 1 : stop].decode()
                    pos = stop
            else:
                message_others.append((message_tag, data[pos:message_stop]))
                pos = message_stop
            if pos != message_stop:
                raise Malformed
        message.unknown_tagged_fields = tuple(message_others)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: ConnectWorkerGroupMemberMetadataValue) -> bytes:
    out: list[bytes | memoryview] = []
    v3 = m.instance_id
    if v3 is None:
        b1 = b""
        n2 = 0
    else:
        b1 = v3.encode()
        n2 = len(b1) + 1
    b4 = m.client_id.encode()
    n5 = len(b4) + 1
    b6 = m.client_host.encode()
    n7 = len(b6) + 1
    n8 = len(m.assignors) + 1
    out += (
        pack_i(m.group_epoch),
        ONE_BYTE[n2] if n2 < 128 else write_string_length(n2),
        b1,
        ONE_BYTE[n5] if n5 < 128 else write_string_length(n5),
        b4,
        ONE_BYTE[n7] if n7 < 128 else write_string_length(n7),
        b6,
        ONE_BYTE[n8] if n8 < 128 else write_uvarint(n8),
    )
    for e9 in m.assignors:
        b10 = e9.name.encode()
        n11 = len(b10) + 1
        b12 = e9.metadata
        n13 = len(b12) + 1
        out += (
            ONE_BYTE[n11] if n11 < 128 else write_string_length(n11),
            b10,
            pack_hhbh(e9.minimum_version, e9.maximum_version, e9.reason, e9.version),
            ONE_BYTE[n13] if n13 < 128 else write_uvarint(n13),
            b12,
            write_tagged(e9.unknown_tagged_fields) if e9.unknown_tagged_fields else b"\0",
        )
    v16 = m.url
    if v16 is None:
        b14 = b""
        n15 = 0
    else:
        b14 = v16.encode()
        n15 = len(b14) + 1
    out += (
        ONE_BYTE[n15] if n15 < 128 else write_string_length(n15),
        b14,
        pack_ii(m.rebalance_timeout_ms, m.session_timeout_ms),
    )
    tagged17: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.server_assignor is not None:
        b19 = m.server_assignor.encode()
        n20 = len(b19) + 1
        tagged17.append((0, b"".join((ONE_BYTE[n20] if n20 < 128 else write_string_length(n20), b19))))
    if m.classic is not None:
        parts21: list[bytes | memoryview] = []
        s22 = m.classic
        n23 = len(s22.protocols) + 1
        parts21 += (pack_b(1), ONE_BYTE[n23] if n23 < 128 else write_uvarint(n23))
        for e24 in s22.protocols:
            b25 = e24.encode()
            n26 = len(b25) + 1
            parts21 += (ONE_BYTE[n26] if n26 < 128 else write_string_length(n26), b25)
        v29 = s22.known_leader
        if v29 is None:
            b27 = b""
            n28 = 0
        else:
            b27 = v29.encode()
            n28 = len(b27) + 1
        v32 = s22.known_protocol
        if v32 is None:
            b30 = b""
            n31 = 0
        else:
            b30 = v32.encode()
            n31 = len(b30) + 1
        parts21 += (
            pack_q(s22.config_offset),
            ONE_BYTE[n28] if n28 < 128 else write_string_length(n28),
            b27,
            ONE_BYTE[n31] if n31 < 128 else write_string_length(n31),
            b30,
            write_tagged(s22.unknown_tagged_fields) if s22.unknown_tagged_fields else b"\0",
        )
        tagged17.append((1, b"".join(parts21)))
    if m.trouble is not None:
        b34 = m.trouble.encode()
        n35 = len(b34) + 1
        tagged17.append((2, b"".join((ONE_BYTE[n35] if n35 < 128 else write_string_length(n35), b34))))
    out.append(write_tagged(tagged17) if tagged17 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    n = data[pos + 4]
    pos = pos + 4 + (n or 1) if n < 128 else skip_string(data, pos + 4, True)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
    n = data[pos]
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    assignor_left = n - 1
    assignor_tries = 4
    while assignor_left:
        assignor_start = pos
        n = data[pos]
        place = pos
        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
        n = data[pos + 7]
        place_2 = pos + 7
        pos = pos + 7 + n if 0 < n < 128 else skip_bytes(data, pos + 7, False)
        n = data[pos]
        place_3 = pos
        if n:
            pos = skip_tagged(data, pos)
        else:
            pos += 1
        assignor_left -= 1
        if assignor_tries and assignor_left >= 5 and not n:
            assignor_same = alike(data, assignor_start, pos, assignor_left, (place, place_2, place_3))
            pos += assignor_same * (pos - assignor_start)
            assignor_left -= assignor_same
            if not assignor_same:
                assignor_tries -= 1
    n = data[pos]
    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
    n = data[pos + 8]
    if n:
        n, pos = read_uvarint(data, pos + 8)
        tags = n
        for _ in range(tags):
            tag, pos = read_uvarint(data, pos)
            n, pos = read_uvarint(data, pos)
            stop = pos + n
            if stop > len(data):
                raise Malformed
            if tag == 0:
                n = data[pos]
                pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
            elif tag == 1:
                n = data[pos]
                pos += 1
                if n:
                    n = data[pos]
                    if n < 128:
                        pos += 1
                    else:
                        n, pos = read_uvarint(data, pos)
                    if n == 0:
                        raise Malformed
                    protocols_count = n - 1
                    for _ in range(protocols_count):
                        n = data[pos]
                        pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
                    n = data[pos + 8]
                    pos = pos + 8 + (n or 1) if n < 128 else skip_string(data, pos + 8, True)
                    n = data[pos]
                    pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
                    n = data[pos]
                    if n:
                        pos = skip_tagged(data, pos)
                    else:
                        pos += 1
            elif tag == 2:
                n = data[pos]
                pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 9
    if pos != len(data):
        raise Malformed
    return None


Assignor.FIELDS = (
    Field("name", "Name", "string", (0, 0)),
    Field("minimum_version", "MinimumVersion", "int16", (0, 0)),
    Field("maximum_version", "MaximumVersion", "int16", (0, 0)),
    Field("reason", "Reason", "int8", (0, 0)),
    Field("version", "Version", "int16", (0, 0)),
    Field("metadata", "Metadata", "bytes", (0, 0)),
)
ClassicMemberMetadata.FIELDS = (
    Field("protocols", "Protocols", "string", (0, 0), is_array=True),
    Field("config_offset", "ConfigOffset", "int64", (0, 0)),
    Field("known_leader", "KnownLeader", "string", (0, 0), nullable=(0, 0)),
    Field("known_protocol", "KnownProtocol", "string", (0, 0), nullable=(0, 0)),
)
ConnectWorkerGroupMemberMetadataValue.FIELDS = (
    Field("group_epoch", "GroupEpoch", "int32", (0, 0)),
    Field("instance_id", "InstanceId", "string", (0, 0), nullable=(0, 0)),
    Field("client_id", "ClientId", "string", (0, 0)),
    Field("client_host", "ClientHost", "string", (0, 0)),
    Field("assignors", "Assignors", "struct", (0, 0), is_array=True, struct=Assignor),
    Field("url", "Url", "string", (0, 0), nullable=(0, 0)),
    Field("rebalance_timeout_ms", "RebalanceTimeoutMs", "int32", (0, 0)),
    Field("session_timeout_ms", "SessionTimeoutMs", "int32", (0, 0)),
    Field("server_assignor", "ServerAssignor", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0)),
    Field("classic", "Classic", "struct", (0, 0), nullable=(0, 0), tag=1, tagged=(0, 0), struct=ClassicMemberMetadata),
    Field("trouble", "Trouble", "string", (0, 0), nullable=(0, 0), tag=2, tagged=(0, 0)),
)
ConnectWorkerGroupMemberMetadataValue.NAME = "ConnectWorkerGroupMemberMetadataValue"
ConnectWorkerGroupMemberMetadataValue.API_KEY = 5
ConnectWorkerGroupMemberMetadataValue.MIN_VERSION = 0
ConnectWorkerGroupMemberMetadataValue.MAX_VERSION = 0
ConnectWorkerGroupMemberMetadataValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupMemberMetadataValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupMemberMetadataValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupMemberMetadataValue.EPOCH = None
ConnectWorkerGroupMemberMetadataValue._CHECKS = {0: _check_v0}

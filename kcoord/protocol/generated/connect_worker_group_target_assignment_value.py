# Generated from schemas/record/ConnectWorkerGroupTargetAssignmentValue.json by `python -m schemas.generator`. Do not edit.
"""ConnectWorkerGroupTargetAssignmentValue, a record value, versions 0."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import RecordValue
from kcoord.protocol.primitives import (
    ONE_BYTE,
    Malformed,
    read_string_length,
    read_uvarint,
    write_string_length,
    write_tagged,
)
from kcoord.protocol.skipping import skip_string

new = object.__new__
unpack_b = Format(">b").unpack_from
unpack_in = Format(">iB").unpack_from
unpack_q = Format(">q").unpack_from
pack_b = Format(">b").pack
pack_i = Format(">i").pack
pack_q = Format(">q").pack


@attrs.define(slots=True, weakref_slot=False)
class ConnectWorkerGroupTargetAssignmentValue(RecordValue):
    """What the members' targets have in common."""

    assignment_epoch: int = 0
    """The group's epoch that the target was computed for."""
    computed_by: str | None = None
    """The id of the member that computed it; null: the coordinator."""
    assignor_name: str = ""
    """The assignor that computed it."""
    delay_deadline_ms: int = -1
    """When the group is to be assigned once more, in ms since 1970; -1: it need not be."""
    error: int = 0
    """What the assignor said was wrong, in its own numbers; 0: nothing."""
    error_message: str | None = None
    """The same as a text, or null."""
    computed_by_url: str | None = None
    """Where that member's REST interface is, for workers of the classic protocol, or null."""
    config_offset: int = -1
    """Up to which offset of the workers' configuration topic it was computed; -1: nobody said."""
    config_round: int = -1
    """The offset of that topic which every worker of the classic protocol must have read before any starts what is new; -1: none."""
    delay_ms: int = -1
    """How far away that deadline was when the target was installed, in ms: so much may be left of it at most, whatever the clocks say; -1: not known, or there is no deadline."""
    workers_delay_ms: int = -1
    """How long the workers of the classic protocol are set to let lost work wait, as their leader has shown, in ms; -1: not known."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> ConnectWorkerGroupTargetAssignmentValue:
    message = new(ConnectWorkerGroupTargetAssignmentValue)
    message.computed_by = None
    message.assignor_name = ""
    message.delay_deadline_ms = -1
    message.error = 0
    message.error_message = None
    message.computed_by_url = None
    message.config_offset = -1
    message.config_round = -1
    message.delay_ms = -1
    message.workers_delay_ms = -1
    message.assignment_epoch, n = unpack_in(data, pos)
    pos += 4
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
                    message.computed_by = None
                    pos += 1
                elif n == 1:
                    message.computed_by = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.computed_by = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 1:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    raise Malformed
                stop = pos + n
                message.assignor_name = data[pos + 1 : stop].decode()
                pos = stop
            elif message_tag == 2:
                (message.delay_deadline_ms,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 3:
                (message.error,) = unpack_b(data, pos)
                pos += 1
            elif message_tag == 4:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.error_message = None
                    pos += 1
                elif n == 1:
                    message.error_message = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.error_message = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 5:
                n = data[pos]
                if n > 127:
                    n, pos = read_string_length(data, pos)
                    pos -= 1
                if n == 0:
                    message.computed_by_url = None
                    pos += 1
                elif n == 1:
                    message.computed_by_url = ""
                    pos += 1
                else:
                    stop = pos + n
                    message.computed_by_url = data[pos + 1 : stop].decode()
                    pos = stop
            elif message_tag == 6:
                (message.config_offset,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 7:
                (message.config_round,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 8:
                (message.delay_ms,) = unpack_q(data, pos)
                pos += 8
            elif message_tag == 9:
                (message.workers_delay_ms,) = unpack_q(data, pos)
                pos += 8
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


def _encode_v0(m: ConnectWorkerGroupTargetAssignmentValue) -> bytes:
    out: list[bytes | memoryview] = []
    out.append(pack_i(m.assignment_epoch))
    tagged1: list[tuple[int, bytes]] = [*m.unknown_tagged_fields]
    if m.computed_by is not None:
        b3 = m.computed_by.encode()
        n4 = len(b3) + 1
        tagged1.append((0, b"".join((ONE_BYTE[n4] if n4 < 128 else write_string_length(n4), b3))))
    if m.assignor_name != "":
        b6 = m.assignor_name.encode()
        n7 = len(b6) + 1
        tagged1.append((1, b"".join((ONE_BYTE[n7] if n7 < 128 else write_string_length(n7), b6))))
    if m.delay_deadline_ms != -1:
        tagged1.append((2, pack_q(m.delay_deadline_ms)))
    if m.error != 0:
        tagged1.append((3, pack_b(m.error)))
    if m.error_message is not None:
        b11 = m.error_message.encode()
        n12 = len(b11) + 1
        tagged1.append((4, b"".join((ONE_BYTE[n12] if n12 < 128 else write_string_length(n12), b11))))
    if m.computed_by_url is not None:
        b14 = m.computed_by_url.encode()
        n15 = len(b14) + 1
        tagged1.append((5, b"".join((ONE_BYTE[n15] if n15 < 128 else write_string_length(n15), b14))))
    if m.config_offset != -1:
        tagged1.append((6, pack_q(m.config_offset)))
    if m.config_round != -1:
        tagged1.append((7, pack_q(m.config_round)))
    if m.delay_ms != -1:
        tagged1.append((8, pack_q(m.delay_ms)))
    if m.workers_delay_ms != -1:
        tagged1.append((9, pack_q(m.workers_delay_ms)))
    out.append(write_tagged(tagged1) if tagged1 else b"\0")
    return b"".join(out)


def _check_v0(data: bytes, pos: int) -> int | None:
    epoch: int
    epoch, n = unpack_in(data, pos)
    if n:
        n, pos = read_uvarint(data, pos + 4)
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
                pos = pos + n if 0 < n < 128 else skip_string(data, pos, False)
            elif tag == 2:
                pos += 8
            elif tag == 3:
                pos += 1
            elif tag == 4:
                n = data[pos]
                pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
            elif tag == 5:
                n = data[pos]
                pos = pos + (n or 1) if n < 128 else skip_string(data, pos, True)
            elif tag == 6:
                pos += 8
            elif tag == 7:
                pos += 8
            elif tag == 8:
                pos += 8
            elif tag == 9:
                pos += 8
            else:
                pos = stop
            if pos != stop:
                raise Malformed
    else:
        pos += 5
    if pos != len(data):
        raise Malformed
    return epoch


ConnectWorkerGroupTargetAssignmentValue.FIELDS = (
    Field("assignment_epoch", "AssignmentEpoch", "int32", (0, 0)),
    Field("computed_by", "ComputedBy", "string", (0, 0), nullable=(0, 0), tag=0, tagged=(0, 0)),
    Field("assignor_name", "AssignorName", "string", (0, 0), tag=1, tagged=(0, 0)),
    Field("delay_deadline_ms", "DelayDeadlineMs", "int64", (0, 0), tag=2, tagged=(0, 0)),
    Field("error", "Error", "int8", (0, 0), tag=3, tagged=(0, 0)),
    Field("error_message", "ErrorMessage", "string", (0, 0), nullable=(0, 0), tag=4, tagged=(0, 0)),
    Field("computed_by_url", "ComputedByUrl", "string", (0, 0), nullable=(0, 0), tag=5, tagged=(0, 0)),
    Field("config_offset", "ConfigOffset", "int64", (0, 0), tag=6, tagged=(0, 0)),
    Field("config_round", "ConfigRound", "int64", (0, 0), tag=7, tagged=(0, 0)),
    Field("delay_ms", "DelayMs", "int64", (0, 0), tag=8, tagged=(0, 0)),
    Field("workers_delay_ms", "WorkersDelayMs", "int64", (0, 0), tag=9, tagged=(0, 0)),
)
ConnectWorkerGroupTargetAssignmentValue.NAME = "ConnectWorkerGroupTargetAssignmentValue"
ConnectWorkerGroupTargetAssignmentValue.API_KEY = 6
ConnectWorkerGroupTargetAssignmentValue.MIN_VERSION = 0
ConnectWorkerGroupTargetAssignmentValue.MAX_VERSION = 0
ConnectWorkerGroupTargetAssignmentValue.FLEXIBLE_FROM = 0
ConnectWorkerGroupTargetAssignmentValue._DECODERS = {0: _decode_v0}
ConnectWorkerGroupTargetAssignmentValue._ENCODERS = {0: _encode_v0}
ConnectWorkerGroupTargetAssignmentValue.EPOCH = "assignment_epoch"
ConnectWorkerGroupTargetAssignmentValue._CHECKS = {0: _check_v0}

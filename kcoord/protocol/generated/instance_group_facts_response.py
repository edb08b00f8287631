# Generated from schemas/internal/InstanceGroupFactsResponse.json by `python -m schemas.generator`. Do not edit.
"""InstanceGroupFactsResponse, a response between instances, versions 0."""

from __future__ import annotations

from struct import Struct as Format

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
unpack_x = Format(">?").unpack_from
unpack_xxixn = Format(">??i?B").unpack_from
unpack_hn = Format(">hB").unpack_from
unpack_i = Format(">i").unpack_from
pack_xxix = Format(">??i?").pack
pack_h = Format(">h").pack
pack_i = Format(">i").pack


@attrs.define(slots=True, weakref_slot=False)
class GroupFacts(Struct):
    group_id: str = ""
    """The group."""
    known: bool = False
    """Whether the group exists there."""
    has_members: bool = False
    """Whether it has members."""
    generation: int = 0
    """Its generation; -1: it has none."""
    loaded: bool = False
    """Whether its partition is served there: else the rest says nothing."""
    owner: str = "auto"
    """Who is to have it: auto, kcoord or cluster."""
    consumer_epoch: int = -1
    """The group epoch of a consumer group of the new protocol; -1: it is none."""
    led_alone: bool = False
    """Whether its classic consumers are to be led one by one, once what there is of their topics is known."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


@attrs.define(slots=True, weakref_slot=False)
class InstanceGroupFactsResponse(Response):
    """What there is to know."""

    error_code: int = 0
    """The error code, or 0."""
    facts: list[GroupFacts] = attrs.Factory(list)
    """One entry for each group."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> InstanceGroupFactsResponse:
    end = len(data)
    message = new(InstanceGroupFactsResponse)
    message.error_code, n = unpack_hn(data, pos)
    pos += 2
    if n < 128:
        pos += 1
    else:
        n, pos = read_uvarint(data, pos)
    if n == 0:
        raise Malformed
    n -= 1
    if n * 9 > end - pos:
        raise Malformed
    facts: list[GroupFacts] = []
    facts_count = n
    for _ in range(facts_count):
        fact = new(GroupFacts)
        n = data[pos]
        if n > 127:
            n, pos = read_string_length(data, pos)
            pos -= 1
        if n == 0:
            raise Malformed
        stop = pos + n
        fact.group_id = data[pos + 1 : stop].decode()
        pos = stop
        fact.owner = "auto"
        fact.consumer_epoch = -1
        fact.led_alone = False
        fact.known, fact.has_members, fact.generation, fact.loaded, n = unpack_xxixn(data, pos)
        pos += 7
        if n:
            n, pos = read_uvarint(data, pos)
            fact_others = []
            fact_tag_count = n
            for _ in range(fact_tag_count):
                fact_tag, pos = read_uvarint(data, pos)
                n, pos = read_uvarint(data, pos)
                fact_stop = pos + n
                if fact_stop > len(data):
                    raise Malformed
                if fact_tag == 0:
                    n = data[pos]
                    if n > 127:
                        n, pos = read_string_length(data, pos)
                        pos -= 1
                    if n == 0:
                        raise Malformed
                    stop = pos + n
                    fact.owner = data[pos + 1 : stop].decode()
                    pos = stop
                elif fact_tag == 1:
                    (fact.consumer_epoch,) = unpack_i(data, pos)
                    pos += 4
                elif fact_tag == 2:
                    (fact.led_alone,) = unpack_x(data, pos)
                    pos += 1
                else:
                    fact_others.append((fact_tag, data[pos:fact_stop]))
                    pos = fact_stop
                if pos != fact_stop:
                    raise Malformed
            fact.unknown_tagged_fields = tuple(fact_others)
        else:
            fact.unknown_tagged_fields = ()
            pos += 1
        facts.append(fact)
    message.facts = facts
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


def _encode_v0(m: InstanceGroupFactsResponse) -> bytes:
    out: list[bytes | memoryview] = []
    n1 = len(m.facts) + 1
    out += (pack_h(m.error_code), ONE_BYTE[n1] if n1 < 128 else write_uvarint(n1))
    for e2 in m.facts:
        b3 = e2.group_id.encode()
        n4 = len(b3) + 1
        out += (
            ONE_BYTE[n4] if n4 < 128 else write_string_length(n4),
            b3,
            pack_xxix(e2.known, e2.has_members, e2.generation, e2.loaded),
        )
        tagged5: list[tuple[int, bytes]] = [*e2.unknown_tagged_fields]
        if e2.owner != "auto":
            b7 = e2.owner.encode()
            n8 = len(b7) + 1
            tagged5.append((0, b"".join((ONE_BYTE[n8] if n8 < 128 else write_string_length(n8), b7))))
        if e2.consumer_epoch != -1:
            tagged5.append((1, pack_i(e2.consumer_epoch)))
        if e2.led_alone:
            tagged5.append((2, b"\1"))
        out.append(write_tagged(tagged5) if tagged5 else b"\0")
    out.append(write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0")
    return b"".join(out)


GroupFacts.FIELDS = (
    Field("group_id", "GroupId", "string", (0, 0), entity="groupId"),
    Field("known", "Known", "bool", (0, 0)),
    Field("has_members", "HasMembers", "bool", (0, 0)),
    Field("generation", "Generation", "int32", (0, 0)),
    Field("loaded", "Loaded", "bool", (0, 0)),
    Field("owner", "Owner", "string", (0, 0), tag=0, tagged=(0, 0)),
    Field("consumer_epoch", "ConsumerEpoch", "int32", (0, 0), tag=1, tagged=(0, 0)),
    Field("led_alone", "LedAlone", "bool", (0, 0), tag=2, tagged=(0, 0)),
)
InstanceGroupFactsResponse.FIELDS = (
    Field("error_code", "ErrorCode", "int16", (0, 0)),
    Field("facts", "Facts", "struct", (0, 0), is_array=True, struct=GroupFacts),
)
InstanceGroupFactsResponse.NAME = "InstanceGroupFactsResponse"
InstanceGroupFactsResponse.API_KEY = 32126
InstanceGroupFactsResponse.MIN_VERSION = 0
InstanceGroupFactsResponse.MAX_VERSION = 0
InstanceGroupFactsResponse.FLEXIBLE_FROM = 0
InstanceGroupFactsResponse._DECODERS = {0: _decode_v0}
InstanceGroupFactsResponse._ENCODERS = {0: _encode_v0}

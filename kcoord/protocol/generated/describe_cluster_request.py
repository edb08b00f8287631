# Generated from schemas/message/DescribeClusterRequest.json by `python -m schemas.generator`. Do not edit.
"""DescribeClusterRequest, a request, versions 0-2."""

from __future__ import annotations

from struct import Struct as Format

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Request
from kcoord.protocol.primitives import EncodeError, Malformed, read_tagged, read_uvarint, write_tagged

new = object.__new__
unpack_xn = Format(">?B").unpack_from
unpack_xbxn = Format(">?b?B").unpack_from
unpack_xbn = Format(">?bB").unpack_from
pack_xb = Format(">?b").pack
pack_xbx = Format(">?b?").pack


@attrs.define(slots=True, weakref_slot=False)
class DescribeClusterRequest(Request):
    """Asks for the cluster's id, controller and brokers."""

    include_cluster_authorized_operations: bool = False
    """Whether ClusterAuthorizedOperations is wanted."""
    endpoint_type: int = 1
    """1 for brokers, 2 for controllers. Since version 1."""
    include_fenced_brokers: bool = False
    """Whether fenced brokers are wanted too. Since version 2."""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


def _decode_v0(data: bytes, pos: int) -> DescribeClusterRequest:
    message = new(DescribeClusterRequest)
    message.endpoint_type = 1
    message.include_fenced_brokers = False
    message.include_cluster_authorized_operations, n = unpack_xn(data, pos)
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


def _decode_v1(data: bytes, pos: int) -> DescribeClusterRequest:
    message = new(DescribeClusterRequest)
    message.include_fenced_brokers = False
    message.include_cluster_authorized_operations, message.endpoint_type, n = unpack_xbn(data, pos)
    pos += 2
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _decode_v2(data: bytes, pos: int) -> DescribeClusterRequest:
    message = new(DescribeClusterRequest)
    message.include_cluster_authorized_operations, message.endpoint_type, message.include_fenced_brokers, n = unpack_xbxn(data, pos)
    pos += 3
    if n:
        n, pos = read_uvarint(data, pos)
        message.unknown_tagged_fields, pos = read_tagged(data, pos, n)
    else:
        message.unknown_tagged_fields = ()
        pos += 1
    if pos != len(data):
        raise Malformed
    return message


def _encode_v0(m: DescribeClusterRequest) -> bytes:
    if m.endpoint_type != 1:
        raise EncodeError("EndpointType is set, which this version lacks")
    if m.include_fenced_brokers:
        raise EncodeError("IncludeFencedBrokers is set, which this version lacks")
    return b"".join((
        b"\1" if m.include_cluster_authorized_operations else b"\0",
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


def _encode_v1(m: DescribeClusterRequest) -> bytes:
    if m.include_fenced_brokers:
        raise EncodeError("IncludeFencedBrokers is set, which this version lacks")
    return b"".join((
        pack_xb(m.include_cluster_authorized_operations, m.endpoint_type),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


def _encode_v2(m: DescribeClusterRequest) -> bytes:
    return b"".join((
        pack_xbx(m.include_cluster_authorized_operations, m.endpoint_type, m.include_fenced_brokers),
        write_tagged(m.unknown_tagged_fields) if m.unknown_tagged_fields else b"\0",
    ))


DescribeClusterRequest.FIELDS = (
    Field("include_cluster_authorized_operations", "IncludeClusterAuthorizedOperations", "bool", (0, 2)),
    Field("endpoint_type", "EndpointType", "int8", (1, 2)),
    Field("include_fenced_brokers", "IncludeFencedBrokers", "bool", (2, 2)),
)
DescribeClusterRequest.NAME = "DescribeClusterRequest"
DescribeClusterRequest.API_KEY = 60
DescribeClusterRequest.MIN_VERSION = 0
DescribeClusterRequest.MAX_VERSION = 2
DescribeClusterRequest.FLEXIBLE_FROM = 0
DescribeClusterRequest._DECODERS = {0: _decode_v0, 1: _decode_v1, 2: _decode_v2}
DescribeClusterRequest._ENCODERS = {0: _encode_v0, 1: _encode_v1, 2: _encode_v2}

"""Does Apache Kafka's own code read what we write, and write it back as it was? Every message and record that
it has, every version.
"""

from __future__ import annotations

import random

import pytest

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.frame import RequestHeader, encode_request_header, response_header_size
from kcoord.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcoord.protocol.generated.unassigned import COMPUTE_ASSIGNMENT, INVALID_ASSIGNMENT
from kcoord.protocol.messages import API_NAMES, API_VERSIONS, OWN_APIS
from tests.kafka.java import Java
from tests.protocol.catalogue import KAFKAS_VERSIONS, random_message
from tests.protocol.kafka_side import facts, reencoded

VALUES_A_VERSION = 20


@pytest.fixture(scope="module")
def kafka_facts(java: Java) -> list[list[str]]:
    return facts(java)


def test_kafka_reads_and_writes_the_same_bytes(java: Java) -> None:
    rng = random.Random(4)
    frames = [
        (cls, version, random_message(rng, cls, version).encode(version))
        for cls, version in KAFKAS_VERSIONS
        for _ in range(VALUES_A_VERSION)
    ]
    for (cls, version, data), theirs in zip(frames, reencoded(java, frames), strict=True):
        assert data.hex() == theirs, f"{cls.NAME} v{version}"


def test_what_is_not_utf_8_is_read_as_kafka_reads_it(java: Java) -> None:
    frames = []
    for wrong in (b"\xff", b"caf\xe9", b"a\xc3", b"\xf0\x9f\x98", b"\x80\x80", b"ok\xc0\xafok"):
        marker = "?" * len(wrong)
        partition = OffsetCommitRequestPartition(committed_metadata=marker)
        request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=[partition])])
        frames.append((OffsetCommitRequest, 9, request.encode(9).replace(marker.encode(), wrong)))

    ours = [cls.decode(data, version).encode(version).hex() for cls, version, data in frames]

    assert reencoded(java, frames) == ours


def test_error_codes_are_kafkas(kafka_facts: list[list[str]]) -> None:
    theirs = {(int(code), name, retriable == "true") for _, code, name, retriable in _of(kafka_facts, "error")}
    own = {(COMPUTE_ASSIGNMENT, "COMPUTE_ASSIGNMENT", False), (INVALID_ASSIGNMENT, "INVALID_ASSIGNMENT", False)}
    assert {(int(code), code.name, code.retriable) for code in ErrorCode} == theirs | own
    assert not {code for code, _, _ in theirs} & {code for code, _, _ in own}


def test_api_names_are_kafkas(kafka_facts: list[list[str]]) -> None:
    assert {int(key): name for _, key, name in _of(kafka_facts, "api")} == {
        key: name for key, name in API_NAMES.items() if key not in OWN_APIS
    }


def test_headers_have_kafkas_versions_for_every_api(kafka_facts: list[list[str]]) -> None:
    seen: dict[int, list[int]] = {}
    for _, key, version, request_header, response_header in _of(kafka_facts, "headers"):
        api, number = int(key), int(version)
        seen.setdefault(api, []).append(number)
        flexible = len(encode_request_header(RequestHeader(api, number, 7, None))) == 11
        assert flexible == (request_header == "2"), f"request header of {API_NAMES[api]} v{version}"
        assert response_header_size(api, number) == 4 + int(response_header), f"response of {API_NAMES[api]} v{version}"
    assert {api: (min(versions), max(versions)) for api, versions in seen.items()} == {
        api: versions for api, versions in API_VERSIONS.items() if api not in OWN_APIS
    }


def _of(facts: list[list[str]], kind: str) -> list[list[str]]:
    return [line for line in facts if line[0] == kind]

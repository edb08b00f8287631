"""Are our schemas Kafka's, and is the generated code what they say?

Compared with the schemas inside the jars of Kafka 4.3 in everything but ``about``, which is in our own words, and
our own tagged fields, which have tags from 1000 on. Messages and records that no Kafka has are left out by name.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcoord.protocol import messages
from kcoord.protocol.messages import API_VERSIONS, REQUESTS
from schemas.generator.files import documents, generated
from schemas.generator.model import SCHEMAS, SchemaError, load, load_all, load_internal, unassigned, walk
from tests.protocol.catalogue import OURS

ROOT = SCHEMAS.parent
OUR_TAGS = 1000
KAFKAS_NUMBER = {20: 3, 22: 5, 23: 6, 24: 7, 25: 8, 26: 16}
"""Records of consumer groups by their numbers here, where 3 to 10 are connect groups."""
FILES = sorted(path for folder in ("message", "record", "internal") for path in (SCHEMAS / folder).glob("*.json"))
KAFKAS_FILES = [file for file in FILES if file.stem not in OURS]


@pytest.fixture(scope="module")
def kafkas_schemas(kafka_libs: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for jar in [*kafka_libs.glob("kafka-clients-*.jar"), *kafka_libs.glob("kafka-group-coordinator-[0-9]*.jar")]:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.startswith("common/message/") and name.endswith(".json"):
                    found[Path(name).stem] = json.loads(_without_comments(archive.read(name).decode()))
    return found


@pytest.mark.parametrize("file", KAFKAS_FILES, ids=lambda file: file.stem)
def test_schema_is_kafkas(file: Path, kafkas_schemas: dict[str, Any]) -> None:
    ours = json.loads(file.read_text())
    if ours["type"].startswith("coordinator"):
        ours["apiKey"] = KAFKAS_NUMBER.get(ours["apiKey"], ours["apiKey"])
    assert _comparable(ours) == _comparable(kafkas_schemas[file.stem])


def test_facts_of_all_apis_are_kafkas(kafkas_schemas: dict[str, Any]) -> None:
    requests = [schema for schema in kafkas_schemas.values() if schema["type"] == "request"]
    theirs = {
        schema["apiKey"]: {
            "key": schema["apiKey"],
            "name": schema["name"].removesuffix("Request"),
            "validVersions": schema["validVersions"],
            "flexibleVersions": schema.get("flexibleVersions", "none"),
        }
        for schema in requests
    }
    ours = {api["key"]: api for api in json.loads((SCHEMAS / "apis.json").read_text())}
    assert ours == theirs


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_field_says_in_our_own_words_what_it_is_for(file: Path, kafkas_schemas: dict[str, Any]) -> None:
    ours = json.loads(file.read_text())
    theirs = {text for text in _abouts(kafkas_schemas.get(file.stem, {"fields": []})) if len(text.split()) > 4}
    for text in _abouts(ours):
        assert text, f"{file.name}: a field without a text"
        assert text not in theirs


def test_what_is_ours_alone_is_in_no_jar_and_has_numbers_that_kafka_will_not_reach(
    kafkas_schemas: dict[str, Any],
) -> None:
    assert {file.stem for file in FILES} - set(kafkas_schemas) == OURS
    own = unassigned()
    kafkas = {schema["apiKey"] for schema in kafkas_schemas.values() if schema["type"] == "request"}
    assert min(api["key"] for api in own["apis"]) > 100 * max(kafkas)
    assert {spec.api_key for spec in load_all() if spec.name in OURS and spec.type == "request"} == {
        api["key"] for api in own["apis"]
    }


def test_what_instances_say_to_each_other_is_in_no_table_of_the_clients_protocol() -> None:
    internal = load_internal()
    assert {spec.api_key for spec in internal if spec.type == "request"} == {
        api["key"] for api in unassigned()["internal"]
    }
    for spec in internal:
        assert spec.api_key not in REQUESTS
        assert spec.api_key not in API_VERSIONS
        assert spec.name not in messages.__all__
        assert spec.name not in (ROOT / "docs/protocol.md").read_text()


def test_generated_code_is_what_the_generator_makes() -> None:
    wanted = generated()
    found = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for path in [*(ROOT / "kcoord/protocol/generated").glob("*.py"), ROOT / "kcoord/protocol/messages.py"]
    }
    assert sorted(found) == sorted(wanted)
    stale = [name for name, text in wanted.items() if found[name] != text]
    assert not stale, "run `python -m schemas.generator`"


def test_protocol_reference_is_what_the_generator_makes() -> None:
    for name, text in documents().items():
        assert (ROOT / name).read_text() == text, "run `python -m schemas.generator --docs`"


def test_our_own_fields_are_ignorable_and_tagged_from_1000_on() -> None:
    own = [
        path[-1]
        for spec in load_all()
        for path in walk(spec.top)
        if path[-1].tag is not None and path[-1].tag >= OUR_TAGS
    ]
    assert [field.name for field in own] == [
        *("IncludeHistory", "Pending", "History", "ComputingMemberId"),  # of the description of a consumer group
        *("ClientAssignors", "Version", "Metadata", "ShouldComputeAssignment"),  # of a consumer's heartbeat
        "ClientAssignors",  # of a consumer
        *("Reason", "ReasonTimestamp", "FenceEpoch"),  # of a consumer group
        *("Version", "Metadata"),  # of a consumer's target
        "Assignor",  # of a consumer group's targets
        *(
            "state",
            "joinedMembers",
            "syncedMembers",
            "reason",
            "reasonTimestamp",
            "lowestGeneration",
        ),  # of a classic one
    ]
    assert all(field.ignorable and field.tagged == field.versions for field in own)


_FIELD = '{"name": "X", "type": "int32", "versions": "0+"}'


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ('"fields": [], "colour": 1', "unknown properties ['colour']"),
        ('"fields": [{"name": "X", "type": "int32", "versions": "0+", "taged": 1}]', "unknown properties ['taged']"),
        ('"fields": [{"name": "X", "type": "int23", "versions": "0+"}]', "type int23 is not defined"),
        ('"fields": [{"name": "X", "type": "int32", "versions": "0..3"}]', "versions '0..3'"),
        (
            f'"fields": [{{"name": "A", "type": "S", "versions": "0+", "fields": [{_FIELD}]}},'
            f' {{"name": "B", "type": "S", "versions": "0+", "fields": [{_FIELD}]}}]',
            "struct S is defined twice",
        ),
    ],
)
def test_a_schema_is_never_half_understood(tmp_path: Path, schema: str, says: str) -> None:
    file = tmp_path / "Wrong.json"
    head = '"apiKey": 1, "type": "request", "name": "WrongRequest", "validVersions": "0-1", "flexibleVersions": "none"'
    file.write_text(f"{{{head}, {schema}}}")
    with pytest.raises(SchemaError, match=re.escape(says)):
        load(file)


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*//.*$|//[^\"\n]*$", "", text, flags=re.MULTILINE)


UNCOMPARED = ("about", "latestVersionUnstable")
"""Properties of schemas that say nothing about bytes."""


def _comparable(schema: Any) -> Any:
    """A schema without its texts and without our own fields."""
    if isinstance(schema, list):
        return [_comparable(each) for each in schema if not (isinstance(each, dict) and each.get("tag", 0) >= OUR_TAGS)]
    if isinstance(schema, dict):
        return {key: _comparable(value) for key, value in schema.items() if key not in UNCOMPARED}
    return schema


def _abouts(schema: Any) -> Iterator[str]:
    for field in [
        *schema["fields"],
        *(each for common in schema.get("commonStructs", ()) for each in common["fields"]),
    ]:
        yield field.get("about", "")
        if "fields" in field:
            yield from _abouts(field)

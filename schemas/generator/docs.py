"""What does the protocol reference say? One page of Markdown out of the schemas, so that it cannot go stale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schemas.generator.index import load_apis, own_apis
from schemas.generator.model import NO_HIGHEST, FieldSpec, MessageSpec, StructSpec, Versions, unassigned

_HEAD = """<!-- Generated from schemas/ by `python -m schemas.generator --docs`. Do not edit. -->

# Protocol reference

What kcoord reads and writes: {kafkas} APIs of Kafka 4.3, {own} that no Kafka has, and the records of its log. Every
other API is passed on as bytes.

The API keys from 32100 on, and the error codes {errors}, are not assigned by anybody: they
lie far above Kafka's own and stand in `schemas/unassigned.json`.

A type in brackets is an array; `?` after a type: null is possible. *Versions* are those that have the field; a field
without an entry there is in all of them. A *tagged* field stands in the tagged section that ends each struct of a
flexible version (KIP-482), and only if it is not at its default. Tagged fields that kcoord does not know are kept.
"""

_GROUP_APIS = """
## Group APIs

What kcoord does with the requests about groups.

- *Right*: the operation that a client must be allowed on each group that the request names, as in Kafka's ACLs.
- *Writes*: whether the request writes records to the log. If it does, kcoord refuses it while the log cannot be
  written, for example because the disk is full.
- *Groups*: how many groups one request may name. Older versions of an API with *several* may name only one.
- *Any instance*: if several instances share the groups, whether any of them takes the request and has it carried out by
  the instance that has the group.
- *In front of a cluster*: who carries the request out. If there is no cluster, kcoord does.

| API | right | writes | groups | any instance | in front of a cluster |
| --- | --- | --- | --- | --- | --- |
"""


def reference(messages: list[MessageSpec], group_apis: Mapping[int, Sequence[str]]) -> str:
    """The text of ``docs/protocol.md``. `group_apis`: the cells of the table of group APIs, by API key."""
    wire = [m for m in messages if m.type in ("request", "response")]
    records = [m for m in messages if m.type.startswith("coordinator-")]
    own = own_apis(messages)
    names = {api.key: api.name for api in [*load_apis(), *own]}
    keys = sorted({m.api_key for m in wire}, key=lambda key: names[key])
    errors = " and ".join(f"`{each['name']}` ({each['code']})" for each in unassigned()["errors"])
    lines = _HEAD.format(kafkas=len(keys) - len(own), own=len(own), errors=errors).splitlines()
    lines += ["", "| API | key | versions | flexible from |", "| --- | --- | --- | --- |"]
    for key in keys:
        request = next(m for m in wire if m.api_key == key and m.type == "request")
        anchor = names[key].lower()
        lines.append(f"| [{names[key]}](#{anchor}) | {key} | {request.valid} | {_first(request.flexible)} |")
    lines += _GROUP_APIS.splitlines()
    for key in sorted(group_apis, key=lambda key: names[key]):
        lines.append(f"| [{names[key]}](#{names[key].lower()}) | {' | '.join(group_apis[key])} |")
    for key in keys:
        lines += ["", f"## {names[key]}"]
        for message in sorted((m for m in wire if m.api_key == key), key=lambda m: m.type):
            lines += _message(message)
    lines += ["", "## Records", ""]
    lines += ["Keys begin with the number of their type as an int16, values with the version of their schema."]
    for message in sorted(records, key=lambda m: (-m.api_key, m.type)):
        lines += _message(message)
    return "\n".join(lines) + "\n"


def _first(versions: Versions) -> str:
    return str(versions.lowest) if versions else "none"


def _message(message: MessageSpec) -> Iterator[str]:
    yield from ("", f"### {message.name}", "", message.about, "")
    if message.type == "coordinator-key":
        yield from (f"Record type {message.api_key}.", "")
    elif message.type == "coordinator-value":
        yield from (f"Versions {message.valid}, flexible from {_first(message.flexible)}.", "")
    if not message.top.fields:
        yield "It has no fields."
        return
    yield from ("| field | type | versions | |", "| --- | --- | --- | --- |")
    yield from _rows(message, message.top, 0)


def _rows(message: MessageSpec, struct: StructSpec, depth: int) -> Iterator[str]:
    for field in struct.fields:
        indent = "&emsp;" * depth
        versions = "" if field.versions == message.valid else _within(field.versions, message.valid)
        yield f"| {indent}`{field.name}` | {_type(field)} | {versions} | {' '.join(_notes(field, message))} |"
        if field.struct is not None:
            yield from _rows(message, field.struct, depth + 1)


def _type(field: FieldSpec) -> str:
    name = field.struct.name if field.struct else field.kind
    return f"{f'[{name}]' if field.is_array else name}{'?' if field.nullable else ''}"


def _within(versions: Versions, valid: Versions) -> str:
    if not versions:
        return "none"
    highest = NO_HIGHEST if versions.highest == valid.highest else versions.highest
    return str(Versions(versions.lowest, highest))


def _notes(field: FieldSpec, message: MessageSpec) -> Iterator[str]:
    yield field.about
    if field.tagged:
        yield f"Tag {field.tag}."
    if field.nullable and field.nullable != field.versions:
        yield f"Null from version {field.nullable.lowest}."
    if field.default not in (None, "", b"", [], (), False, bytes(16), 0):
        yield f"Default {str(field.default).lower()}."

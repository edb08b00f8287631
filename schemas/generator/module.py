"""What stands in a generated module? Attrs classes, a function for each layout on the wire, and the fields as data."""

from __future__ import annotations

import re
from collections.abc import Callable

from schemas.generator.check import EPOCHS, CheckEmitter
from schemas.generator.code import LINE, Formats, Lines, literal, python_type
from schemas.generator.decode import DecodeEmitter
from schemas.generator.encode import EncodeEmitter
from schemas.generator.model import FieldSpec, MessageSpec, StructSpec, Versions, snake_case
from schemas.generator.spans import LISTS, SpanEmitter

BASES = {
    "request": "Request",
    "response": "Response",
    "coordinator-key": "Message",
    "coordinator-value": "RecordValue",
    "data": "Message",
}
_PRIMITIVES = (
    "ONE_BYTE",
    "READ_INT8S",
    "READ_INT16S",
    "READ_INT32S",
    "WRITE_INT8S",
    "WRITE_INT16S",
    "WRITE_INT32S",
    "ZERO_UUID",
    "EncodeError",
    "Malformed",
    "integers",
    "read_string_length",
    "read_tagged",
    "read_uvarint",
    "write_string_length",
    "write_tagged",
    "write_uvarint",
)
_SKIPPING = (
    "alike",
    "skip_bytes",
    "skip_fixed_rows",
    "skip_int16_string",
    "skip_int32_bytes",
    "skip_string",
    "skip_tagged",
)


def module(message: MessageSpec) -> str:
    """The text of the module of one message."""
    formats = Formats()
    body: list[str] = []
    for struct in message.structs:
        body += _class(message, struct)
    readers = _functions(message, formats, "decode", _decode_body)
    writers = _functions(message, formats, "encode", _encode_body)
    body += readers[0] + writers[0]
    facts = _facts(message, readers[1], writers[1])
    if message.type == "coordinator-value":
        checks = _functions(message, formats, "check", _check_body)
        body += checks[0]
        facts += _check_facts(message, checks[1])
    if message.name in LISTS:
        finders = _functions(message, formats, "find", _find_body)
        body += finders[0]
        facts += _list_facts(message, finders[1])
    body += facts
    return "\n".join(_head(message, formats, "\n".join(body)) + body) + "\n"


def _head(message: MessageSpec, formats: Formats, body: str) -> list[str]:
    kind = {"coordinator-key": "record key", "coordinator-value": "record value"}.get(message.type, message.type)
    folder = "record" if kind.startswith("record") else "message"
    if message.is_internal:
        folder, kind = "internal", f"{'struct' if kind == 'data' else kind} between instances"
    used = [name for name in _PRIMITIVES if re.search(rf"\b{name}\b", body)]
    structs = ["Struct as Format"] if "Format(" in body or formats.definitions() else []
    structs += [name for name in ("iter_unpack", "pack", "unpack_from") if re.search(rf"\b{name}\(", body)]
    lines = [
        f"# Generated from schemas/{folder}/{message.name}.json by `python -m schemas.generator`. Do not edit.",
        f'"""{message.name}, a {kind}, versions {message.valid}."""',
        "",
        "from __future__ import annotations",
        "",
    ]
    library = [f"from struct import {', '.join(structs)}"] if structs else []
    lines += [*library, ""] if library else []
    lines += ["import attrs", ""]
    if "Field(" in body:
        lines += ["from kcoord.protocol.layout import Field"]
    bases = [BASES[message.type]] + (["Struct"] if len(message.structs) > 1 else [])
    lines += [f"from kcoord.protocol.message_base import {', '.join(sorted(bases))}"]
    if used:
        lines += _import("kcoord.protocol.primitives", used)
    if skipping := [name for name in _SKIPPING if re.search(rf"\b{name}\(", body)]:
        lines += _import("kcoord.protocol.skipping", skipping)
    definitions = formats.definitions()
    if "new(" in body:
        definitions.insert(0, "new = object.__new__")
    return lines + [""] + definitions + ([""] if definitions else [])


def _import(source: str, names: list[str]) -> list[str]:
    line = f"from {source} import {', '.join(names)}"
    return [line] if len(line) <= LINE else [f"from {source} import (", *(f"    {name}," for name in names), ")"]


# --- classes


def _class(message: MessageSpec, struct: StructSpec) -> list[str]:
    top = struct is message.top
    base = BASES[message.type] if top else "Struct"
    lines = ["", "@attrs.define(slots=True, weakref_slot=False)", f"class {struct.name}({base}):"]
    if top:
        lines += [f'    """{message.about or message.name}"""', ""]
    for field in struct.fields:
        lines.append(f"    {field.attribute}: {python_type(field)} = {_attribute_default(field)}")
        if field.about:
            lines.append(f'    """{_about(field, message)}"""')
    lines += ["    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()", ""]
    return lines


def _attribute_default(field: FieldSpec) -> str:
    if field.default == [] and field.is_array:
        return "attrs.Factory(list)"
    if field.struct is not None and field.default == ():
        return f"attrs.Factory({field.struct.name})"
    return literal(field)


def _about(field: FieldSpec, message: MessageSpec) -> str:
    low, high = field.versions.lowest, field.versions.highest
    if not field.versions:
        return f"{field.about} In no version any more."
    if low == high != message.valid.highest:
        return f"{field.about} Version {low} only."
    since = f" Since version {low}." if low > message.valid.lowest else ""
    until = f" Until version {high}." if high < message.valid.highest else ""
    return f"{field.about}{since}{until}"


# --- functions


def _decode_body(
    message: MessageSpec, struct: StructSpec, version: int, formats: Formats, shared: dict[str, str]
) -> list[str]:
    emitter = DecodeEmitter(message, version, formats, shared)
    if struct is message.top:
        return [f"(data: bytes, pos: int) -> {struct.name}:", *emitter.top()]
    return [f"(data: bytes, pos: int) -> tuple[{struct.name}, int]:", *emitter.function(struct)]


def _encode_body(
    message: MessageSpec, struct: StructSpec, version: int, formats: Formats, shared: dict[str, str]
) -> list[str]:
    emitter = EncodeEmitter(message, version, formats, shared)
    if struct is message.top:
        return [f"(m: {struct.name}) -> bytes:", *emitter.top()]
    return [f"(out: list[bytes | memoryview], m: {struct.name}) -> None:", *emitter.function(struct)]


def _check_body(
    message: MessageSpec, struct: StructSpec, version: int, formats: Formats, shared: dict[str, str]
) -> list[str]:
    emitter = CheckEmitter(message, version, formats, shared)
    if struct is message.top:
        return ["(data: bytes, pos: int) -> int | None:", *emitter.top()]
    return ["(data: bytes, pos: int) -> int:", *emitter.function(struct)]


def _find_body(
    message: MessageSpec, struct: StructSpec, version: int, formats: Formats, shared: dict[str, str]
) -> list[str]:
    emitter = SpanEmitter(message, version, formats, shared)
    if struct is message.top:
        return ["(data: bytes, pos: int) -> tuple[int, int]:", *emitter.top()]
    return ["(data: bytes, pos: int) -> int:", *emitter.function(struct)]


_Body = Callable[[MessageSpec, StructSpec, int, Formats, dict[str, str]], list[str]]


def _functions(message: MessageSpec, formats: Formats, verb: str, body: _Body) -> tuple[list[str], dict[int, str]]:
    """A function for each layout that differs; returns their code and which version uses which."""
    lines: list[str] = []
    chosen: dict[int, str] = {}
    seen: dict[str, str] = {}
    for version in message.versions():
        shared: dict[str, str] = {}
        for struct in message.structs:
            if not struct.shared and struct is not message.top:
                continue
            text = body(message, struct, version, formats, shared)
            key = f"{struct.name}\n" + "\n".join(text)
            if key not in seen:
                stem = "" if struct is message.top else f"_{snake_case(struct.name)}"
                seen[key] = f"_{verb}{stem}_v{version}"
                lines += ["", f"def {seen[key]}{text[0]}", *text[1:], ""]
            shared[struct.name] = seen[key]
        chosen[version] = shared[message.top.name]
    return lines, chosen


# --- facts


def _facts(message: MessageSpec, readers: dict[int, str], writers: dict[int, str]) -> list[str]:
    out = Lines(0)
    out.add("")
    for struct in message.structs:
        out.add(f"{struct.name}.FIELDS = (")
        out.depth += 1
        for field in struct.fields:
            out.call("Field(", _field_facts(field), "),")
        out.depth -= 1
        out.add(")")
    name, never = message.name, message.valid.highest + 1
    out.add(f'{name}.NAME = "{name}"', f"{name}.API_KEY = {message.api_key}")
    out.add(f"{name}.MIN_VERSION = {message.valid.lowest}", f"{name}.MAX_VERSION = {message.valid.highest}")
    out.add(f"{name}.FLEXIBLE_FROM = {message.flexible.lowest if message.flexible else never}")
    out.call(f"{name}._DECODERS = {{", [f"{version}: {function}" for version, function in readers.items()], "}")
    out.call(f"{name}._ENCODERS = {{", [f"{version}: {function}" for version, function in writers.items()], "}")
    return out.lines


def _check_facts(message: MessageSpec, checks: dict[int, str]) -> list[str]:
    out, epoch = Lines(0), EPOCHS.get(message.name)
    out.add(f"{message.name}.EPOCH = " + ("None" if epoch is None else f'"{epoch}"'))
    out.call(f"{message.name}._CHECKS = {{", [f"{version}: {function}" for version, function in checks.items()], "}")
    return out.lines


def _list_facts(message: MessageSpec, finders: dict[int, str]) -> list[str]:
    out = Lines(0)
    out.add(f"{message.name}.LISTS = {len(LISTS[message.name])}")
    out.call(f"{message.name}._FINDERS = {{", [f"{version}: {function}" for version, function in finders.items()], "}")
    return out.lines


def _field_facts(field: FieldSpec) -> list[str]:
    facts = [f'"{field.attribute}"', f'"{field.name}"', f'"{field.kind}"', _range(field.versions)]
    if field.is_array:
        facts.append("is_array=True")
    if field.nullable:
        facts.append(f"nullable={_range(field.nullable)}")
    if field.tagged:
        facts += [f"tag={field.tag}", f"tagged={_range(field.tagged)}"]
    if field.struct is not None:
        facts.append(f"struct={field.struct.name}")
    if field.entity:
        facts.append(f'entity="{field.entity}"')
    if field.ignorable:
        facts.append("ignorable=True")
    if field.never_flexible:
        facts.append("never_flexible=True")
    return facts


def _range(versions: Versions) -> str:
    return f"({versions.lowest}, {versions.highest})"

"""What does a schema file say? Kafka's schema language, read strictly into plain objects.

An unknown property, a type that is not known, or a struct that is named but not defined is an error: a schema is never
half understood.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

SCHEMAS = Path(__file__).resolve().parent.parent
UNASSIGNED = "unassigned"
"""What a schema says in place of an API key that no KIP has been given; the number stands in ``unassigned.json``."""
NO_HIGHEST = 32767

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""Types of a fixed width and their format letters of Python's struct module."""

WIDTHS = {"?": 1, "b": 1, "h": 2, "H": 2, "i": 4, "q": 8, "d": 8, "16s": 16}
SIZED = ("string", "bytes", "records")

_FIELD_KEYS = {
    "name",
    "type",
    "versions",
    "tag",
    "taggedVersions",
    "nullableVersions",
    "flexibleVersions",
    "default",
    "ignorable",
    "mapKey",
    "entityType",
    "about",
    "fields",
}
_MESSAGE_KEYS = {
    "apiKey",
    "type",
    "listeners",
    "name",
    "validVersions",
    "flexibleVersions",
    "about",
    "fields",
    "commonStructs",
}


class SchemaError(ValueError):
    """A schema file that does not follow the language; the text names the file's message and field."""


@attrs.frozen
class Versions:
    """A range of versions, both ends included; ``highest`` below ``lowest`` is none."""

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str | None) -> Versions:
        if text is None or text == "none":
            return cls(1, 0)
        match = re.fullmatch(r"(\d+)(?:(\+)|-(\d+))?", text)
        if not match:
            raise SchemaError(f"versions {text!r}: want 'N', 'N+', 'N-M' or 'none'")
        lowest = int(match[1])
        return cls(lowest, NO_HIGHEST if match[2] else int(match[3] or lowest))

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __bool__(self) -> bool:
        return self.lowest <= self.highest

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.highest == NO_HIGHEST:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"

    def cut(self, other: Versions) -> Versions:
        """The versions in both; none is always (1, 0)."""
        both = Versions(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return both if both else Versions(1, 0)


@attrs.define
class StructSpec:
    """A struct: the message itself, one nested in a field, or one that several fields share."""

    name: str
    fields: list[FieldSpec]
    shared: bool = False
    """Stands under ``commonStructs``; its code is a function, while other structs' code stands in line."""


@attrs.define
class FieldSpec:
    """A field; ``kind`` is the type, of the elements for an array."""

    name: str
    kind: str
    is_array: bool
    versions: Versions
    nullable: Versions
    tagged: Versions
    tag: int | None
    default: Any
    ignorable: bool
    map_key: bool
    never_flexible: bool
    entity: str | None
    about: str
    struct: StructSpec | None = None

    @property
    def attribute(self) -> str:
        """Its name in Python."""
        return attribute_name(self.name)

    def is_regular(self, version: int) -> bool:
        return version in self.versions and version not in self.tagged


@attrs.define
class MessageSpec:
    """A schema file."""

    name: str
    type: str
    api_key: int
    valid: Versions
    flexible: Versions
    about: str
    top: StructSpec
    structs: list[StructSpec]
    """Every struct, those that others are made of first, the message itself last."""
    is_internal: bool = False
    """Whether it stands in ``internal/``: said among instances only."""

    @property
    def module(self) -> str:
        return snake_case(self.name)

    def versions(self) -> range:
        return range(self.valid.lowest, self.valid.highest + 1)

    def is_flexible(self, version: int) -> bool:
        return version in self.flexible


def snake_case(name: str) -> str:
    """GroupId → group_id, IsKRaft → is_k_raft."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def attribute_name(name: str) -> str:
    snake = snake_case(name)
    return f"{snake}_" if keyword.iskeyword(snake) else snake


def unassigned() -> dict[str, list[dict[str, Any]]]:
    """``unassigned.json``: our own ``apis`` and those that only instances use among themselves, ``internal`` (key,
    name), and ``errors`` (code, name).
    """
    found: dict[str, list[dict[str, Any]]] = json.loads((SCHEMAS / "unassigned.json").read_text())
    return found


def api_key(source: dict[str, Any]) -> int:
    """The API key of a schema as a number, -1 for data that is no message.

    Raises SchemaError for a message of ours that has none.
    """
    if source["type"] == "data":
        return -1
    if source["apiKey"] != UNASSIGNED:
        return int(source["apiKey"])
    api = source["name"].removesuffix("Request").removesuffix("Response")
    own = unassigned()
    for each in (*own["apis"], *own["internal"]):
        if each["name"] == api:
            return int(each["key"])
    raise SchemaError(f"{source['name']}: unassigned.json has no key for {api}")


def load(path: Path) -> MessageSpec:
    """Read one schema file; raises SchemaError."""
    return _Parser(json.loads(path.read_text())).message()


def load_all(folder: Path = SCHEMAS) -> list[MessageSpec]:
    """Every message and record, by name; headers are not among them (``frame.py`` is written by hand)."""
    paths = sorted([*(folder / "message").glob("*.json"), *(folder / "record").glob("*.json")])
    specs = [load(path) for path in paths if json.loads(path.read_text())["type"] != "header"]
    return sorted(specs, key=lambda spec: spec.name)


def load_internal(folder: Path = SCHEMAS) -> list[MessageSpec]:
    """What instances say among themselves, by name: no client is told of it, so it is in no index and no reference."""
    paths = sorted((folder / "internal").glob("*.json"))
    return [attrs.evolve(load(path), is_internal=True) for path in paths]


def walk(struct: StructSpec, path: tuple[FieldSpec, ...] = ()) -> Iterator[tuple[FieldSpec, ...]]:
    """Every field below a struct as the path that leads to it."""
    for field in struct.fields:
        here = (*path, field)
        yield here
        if field.struct is not None:
            yield from walk(field.struct, here)


class _Parser:
    def __init__(self, source: dict[str, Any]) -> None:
        self.source = source
        self.structs: dict[str, StructSpec] = {}
        self.common = {each["name"]: each for each in source.get("commonStructs", ())}

    def message(self) -> MessageSpec:
        source = self.source
        unknown = set(source) - _MESSAGE_KEYS
        if unknown:
            raise SchemaError(f"{source['name']}: unknown properties {sorted(unknown)}")
        valid = Versions.parse(source["validVersions"])
        top = self.struct(source["name"], source["fields"], valid)
        return MessageSpec(
            name=source["name"],
            type=source["type"],
            api_key=api_key(source),
            valid=valid,
            flexible=Versions.parse(source["flexibleVersions"]),
            about=source.get("about", ""),
            top=top,
            structs=list(self.structs.values()),
        )

    def struct(self, name: str, fields: list[dict[str, Any]], valid: Versions, shared: bool = False) -> StructSpec:
        spec = StructSpec(name, [self.field(each, valid) for each in fields], shared)
        if name in self.structs:
            raise SchemaError(f"{self.source['name']}: struct {name} is defined twice")
        self.structs[name] = spec
        return spec

    def field(self, source: dict[str, Any], valid: Versions) -> FieldSpec:
        name = source["name"]
        unknown = set(source) - _FIELD_KEYS
        if unknown:
            raise SchemaError(f"{self.source['name']}.{name}: unknown properties {sorted(unknown)}")
        kind = source["type"]
        is_array = kind.startswith("[]")
        kind = kind.removeprefix("[]")
        struct = None
        if kind not in FIXED and kind not in SIZED:
            struct = self.struct_of(kind, source, valid)
            kind = "struct"
        spec = FieldSpec(
            name=name,
            kind=kind,
            is_array=is_array,
            versions=Versions.parse(source["versions"]).cut(valid),
            nullable=Versions.parse(source.get("nullableVersions")).cut(valid),
            tagged=Versions.parse(source.get("taggedVersions")).cut(valid),
            tag=source.get("tag"),
            default=None,
            ignorable=source.get("ignorable", False),
            map_key=source.get("mapKey", False),
            never_flexible=source.get("flexibleVersions") == "none",
            entity=source.get("entityType"),
            about=source.get("about", ""),
            struct=struct,
        )
        spec.default = _default(spec, source.get("default"))
        return spec

    def struct_of(self, name: str, source: dict[str, Any], valid: Versions) -> StructSpec:
        if "fields" in source:
            return self.struct(name, source["fields"], valid)
        if name in self.structs:
            return self.structs[name]
        if name not in self.common:
            raise SchemaError(f"{self.source['name']}.{source['name']}: type {name} is not defined")
        return self.struct(name, self.common[name]["fields"], valid, shared=True)


_IMPLICIT_DEFAULTS = {
    "string": "",
    "bytes": b"",
    "records": None,
    "bool": False,
    "uuid": bytes(16),
    "float64": 0.0,
}


def _default(field: FieldSpec, given: Any) -> Any:
    """The default as a Python value; a struct's own default is the struct with its defaults, written here as an empty
    tuple.
    """
    if given in (None, "") and not (given == "" and field.kind == "string"):
        if field.is_array:
            return []
        if field.kind == "struct":
            return ()
        return _IMPLICIT_DEFAULTS.get(field.kind, 0)
    if given == "null":
        return None
    if field.kind == "string":
        return given
    if field.kind == "bool":
        return str(given).lower() == "true"
    if field.kind == "float64":
        return float(given)
    return int(str(given), 0)

"""The placement document: rules as a user writes them (TOML), and as a group's setting keeps them (JSON).

Both have the same tables and keys, listed in docs/placement.md. A document that cannot be understood is refused as a
whole, with the place and what is wrong there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import attrs
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from kcoord.assign.placement.rules import (
    MAX_MOVES,
    NO_RULES,
    Affinity,
    Capacity,
    Cordon,
    Domain,
    Rules,
    Separation,
    Spread,
    Weight,
    Zone,
)

MAX_RULES = 1_000
MAX_PATTERN = 500
MAX_WEIGHT = 1_000_000


class DocumentError(ValueError):
    """The document has something that is not a rule; the text says where, what, and what would be right."""


def _is_pattern(text: str) -> str:
    """Check a pattern. Raises ValueError if a bracket is not closed: it would only match itself."""
    place = 0
    while (opened := text.find("[", place)) >= 0:
        closed = text.find("]", opened + (3 if text[opened + 1 : opened + 2] == "!" else 2))
        if closed < 0:
            raise ValueError(f"{text!r} has a [ without a ]: write [abc] for one of these, or [[] for [ itself")
        place = closed + 1
    return text


Pattern = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN), AfterValidator(_is_pattern)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Cordon(_Table):
    worker: Pattern
    drain: bool = False


class _Weight(_Table):
    connectors: Pattern
    weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT)]


class _Affinity(_Table):
    connectors: Pattern
    workers: Annotated[list[Pattern], Field(min_length=1, max_length=MAX_RULES)]
    only: bool = True


class _Separation(_Table):
    connectors: Pattern
    others: Pattern
    only: bool = True


class _Spread(_Table):
    connectors: Pattern
    over: Annotated[Domain, Field(strict=False)] = Domain.HOST


class _Capacity(_Table):
    workers: Pattern
    weight: Annotated[int, Field(ge=0, le=MAX_WEIGHT)]


class _Zone(_Table):
    urls: Pattern
    name: Pattern


class _Document(_Table):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)

    max_moves: Annotated[int, Field(ge=1, le=MAX_WEIGHT, alias="max-moves")] = MAX_MOVES
    stop: bool = False
    cordon: Annotated[list[_Cordon], Field(max_length=MAX_RULES)] = []
    weight: Annotated[list[_Weight], Field(max_length=MAX_RULES)] = []
    affinity: Annotated[list[_Affinity], Field(max_length=MAX_RULES)] = []
    separation: Annotated[list[_Separation], Field(max_length=MAX_RULES)] = []
    spread: Annotated[list[_Spread], Field(max_length=MAX_RULES)] = []
    capacity: Annotated[list[_Capacity], Field(max_length=MAX_RULES)] = []
    zone: Annotated[list[_Zone], Field(max_length=MAX_RULES)] = []


_TABLES: Mapping[str, type[_Table]] = {
    "cordon": _Cordon,
    "weight": _Weight,
    "affinity": _Affinity,
    "separation": _Separation,
    "spread": _Spread,
    "capacity": _Capacity,
    "zone": _Zone,
}


def read_tables(tables: Mapping[str, Any]) -> Rules:
    """The rules in a document that has been parsed. Raises DocumentError."""
    try:
        found = _Document.model_validate(dict(tables))
    except ValidationError as error:
        raise DocumentError(_complaint(error)) from None
    return Rules(
        cordons=tuple([Cordon(each.worker, each.drain) for each in found.cordon]),
        weights=tuple([Weight(each.connectors, each.weight) for each in found.weight]),
        affinities=tuple([Affinity(each.connectors, tuple(each.workers), each.only) for each in found.affinity]),
        separations=tuple([Separation(each.connectors, each.others, each.only) for each in found.separation]),
        spreads=tuple([Spread(each.connectors, each.over) for each in found.spread]),
        capacities=tuple([Capacity(each.workers, each.weight) for each in found.capacity]),
        zones=tuple([Zone(each.urls, each.name) for each in found.zone]),
        max_moves=found.max_moves,
        stops=found.stop,
    )


def read_setting(text: str) -> Rules:
    """The rules in a group's setting; an empty setting has none. Raises DocumentError."""
    if not text.strip():
        return NO_RULES
    try:
        tables = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not valid JSON: {error}") from None
    if not isinstance(tables, dict):
        raise DocumentError("not a JSON object")
    return read_tables(tables)


def write_tables(rules: Rules) -> dict[str, Any]:
    """The document with these rules, without values that are the default."""
    tables: dict[str, Any] = {} if rules.max_moves == MAX_MOVES else {"max-moves": rules.max_moves}
    if rules.stops:
        tables["stop"] = True
    tables["cordon"] = [_kept(_Cordon(worker=each.worker, drain=each.drains)) for each in rules.cordons]
    tables["weight"] = [attrs.asdict(each) for each in rules.weights]
    tables["affinity"] = [
        _kept(_Affinity(connectors=each.connectors, workers=list(each.workers), only=each.is_hard))
        for each in rules.affinities
    ]
    tables["separation"] = [
        _kept(_Separation(connectors=each.connectors, others=each.others, only=each.is_hard))
        for each in rules.separations
    ]
    tables["spread"] = [{"connectors": each.connectors, "over": each.over.value} for each in rules.spreads]
    tables["capacity"] = [attrs.asdict(each) for each in rules.capacities]
    tables["zone"] = [attrs.asdict(each) for each in rules.zones]
    return {name: table for name, table in tables.items() if table}


def write_setting(rules: Rules) -> str:
    """The same, in the form of a group's setting."""
    tables = write_tables(rules)
    return json.dumps(tables, separators=(",", ":"), ensure_ascii=False) if tables else ""


def _kept(table: _Table) -> dict[str, Any]:
    return table.model_dump(exclude_defaults=True)


def _complaint(error: ValidationError) -> str:
    """The first thing that is wrong: where, what, and what to write. A key that does not exist comes before all
    others.
    """
    found = error.errors(include_url=False)
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    where = first["loc"]
    place = "".join(f"[{each + 1}]" if isinstance(each, int) else f".{each}" for each in where).lstrip(".")
    return f"{place or 'the document'}: {_wrong(first['type'], where, first)}"


def _wrong(kind: str, where: Sequence[int | str], error: ErrorDetails) -> str:
    limits, given = error.get("ctx", {}), error["input"]
    match kind:
        case "extra_forbidden":
            return f"there is no such key; there are {', '.join(_keys(where[:-1]))}"
        case "missing":
            return f"it is missing; the keys of a table {where[0]} are {', '.join(_keys(where[:-1]))}"
        case "list_type" if len(where) == 1:
            return f"write its tables with two brackets: [[{where[0]}]]"
        case "list_type":
            return f'it has to be a list, such as {where[-1]} = ["{given if isinstance(given, str) else "http://*"}"]'
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"it has to be a table, with {', '.join(_keys(where))}"
        case "string_type":
            return f"{given!r} is no text: write it in quotes"
        case "string_too_short" | "too_short":
            return "it is empty: name at least one"
        case "int_type" | "int_from_float":
            return f"{given!r} is no whole number: write for example {where[-1]} = 4"
        case "bool_type":
            return f"{given!r} is neither true nor false"
        case "greater_than_equal":
            return f"{given} is too small: it has to be {limits['ge']} at least"
        case "less_than_equal":
            return f"{given} is too large: it may be {limits['le']:,} at most"
        case "enum":
            return f"{given!r} is none of {limits['expected'].replace(' or ', ', ')}"
        case "value_error":
            return str(limits["error"])
    return error["msg"]


def _keys(where: Sequence[int | str]) -> list[str]:
    """The keys that are allowed there."""
    table = _TABLES.get(str(where[0]), _Document) if where else _Document
    return [each.alias or name for name, each in table.model_fields.items()]

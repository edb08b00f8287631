"""The placement document: rules as a user writes them (TOML), and as a group's setting keeps them (JSON).

Both have the same tables and keys, listed in docs/placement.md. A document that cannot be understood is refused as a
whole, with the place and what is wrong there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import attrs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

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
    """The document says something that is no rule; the text says where, what, and what would be one."""


Pattern = Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]


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
    """The rules in a group's setting; an empty one has none. Raises DocumentError."""
    if not text.strip():
        return NO_RULES
    try:
        tables = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"it is no JSON: {error}") from None
    if not isinstance(tables, dict):
        raise DocumentError("it is no JSON object")
    return read_tables(tables)


def write_tables(rules: Rules) -> dict[str, Any]:
    """The document of these rules, without what stands at its default."""
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
    """The same as a group's setting keeps it."""
    tables = write_tables(rules)
    return json.dumps(tables, separators=(",", ":"), ensure_ascii=False) if tables else ""


def _kept(table: _Table) -> dict[str, Any]:
    return table.model_dump(exclude_defaults=True)


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    place = "".join(f"[{each + 1}]" if isinstance(each, int) else f".{each}" for each in first["loc"]).lstrip(".")
    wrong = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{place or 'the document'}: {wrong}"

"""Values at the edges of what a field can have: nothing, null, the smallest, the largest, the longest, many."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from kcoord.protocol.layout import Field
from tests.protocol.catalogue import BITS, random_message

LENGTHS = (1, 249, 250, 299, 300, 301, 1_023, 1_024, 1_025, 4_096, 4_097, 32_767)
"""Around the limits that sessions are run with, and the longest that there is."""
MANY = (2, 3, 9, 10, 11, 50, 51, 400)


def put_at_an_edge(rng: random.Random, struct: Any, version: int, texts: Sequence[str]) -> None:
    """Change one field of the struct, or of one inside of it."""
    fields = [field for field in struct.FIELDS if field.is_in(version)]
    if not fields:
        return
    field: Field = rng.choice(fields)
    value = getattr(struct, field.attribute)
    if field.kind == "struct" and value and rng.random() < 0.7:
        put_at_an_edge(rng, rng.choice(value) if isinstance(value, list) else value, version, texts)
        return
    setattr(struct, field.attribute, _edge(rng, field, value, version, texts))


def _edge(rng: random.Random, field: Field, value: Any, version: int, texts: Sequence[str]) -> Any:
    if field.is_nullable(version) and rng.random() < 0.3:
        return None
    if field.is_array:
        if rng.random() < 0.3:
            return []
        if value:
            return list(value) * rng.choice(MANY)
        return (
            [] if field.kind == "struct" else [_edge_value(rng, field, version, texts) for _ in range(rng.choice(MANY))]
        )
    return _edge_value(rng, field, version, texts)


def _edge_value(rng: random.Random, field: Field, version: int, texts: Sequence[str]) -> Any:
    if field.kind in BITS:
        half = 1 << (BITS[field.kind] - 1)
        return rng.choice((0, 1, -1, -2, half - 1, half - 2, -half, rng.randrange(-half, half)))
    match field.kind:
        case "string":
            return rng.choice(texts) if rng.random() < 0.5 else rng.choice("x\u00df") * (rng.choice(LENGTHS) // 2)
        case "bytes" | "records":
            return rng.randbytes(rng.choice((0, 1, *LENGTHS)))
        case "uint16":
            return rng.choice((0, 1, 0xFFFF))
        case "bool":
            return rng.random() < 0.5
        case "uuid":
            return rng.randbytes(16)
        case _:
            return random_message(rng, field.struct, version)


def fit(struct: Any, version: int) -> None:
    """Leave at its default what the version lacks."""
    fresh = type(struct)()
    for field in struct.FIELDS:
        value = getattr(struct, field.attribute)
        if not field.is_in(version):
            setattr(struct, field.attribute, getattr(fresh, field.attribute))
        elif value is None and not field.is_nullable(version):
            setattr(struct, field.attribute, getattr(fresh, field.attribute) or ([] if field.is_array else ""))
        elif field.kind == "struct" and value is not None:
            for each in value if isinstance(value, list) else [value]:
                fit(each, version)

"""How two releases' answers are compared: what one of them told, the other tells too, perhaps with more."""

from __future__ import annotations

from typing import Any

FORMER_FIELDS = {"legacy_mode": "classic_mode"}
"""Names that fields had in the codecs of 0.1.0; on the wire nothing has changed."""


def differences(found: Any, expected: Any, where: str = "") -> list[str]:
    """Where `found` lacks something of `expected` or tells it otherwise, a line each. It may have more fields, and more
    entries where entries have names.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            line
            for name in expected
            for line in differences(found.get(FORMER_FIELDS.get(name, name)), expected[name], f"{where}.{name}")
        ]
    if isinstance(expected, list) and isinstance(found, list):
        if all(isinstance(each, dict) and "name" in each for each in [*expected, *found]):
            return differences({each["name"]: each for each in found}, {each["name"]: each for each in expected}, where)
        if len(found) == len(expected):
            pairs = enumerate(zip(found, expected, strict=True))
            return [line for at, (one, other) in pairs for line in differences(one, other, f"{where}[{at}]")]
    return [] if found == expected else [f"{where}: {found!r}, and was {expected!r}"]


def restricted(found: Any, known: Any) -> Any:
    """`found` without the fields that entries of `known`, of the same shape, do not have."""
    if isinstance(found, dict) and isinstance(known, dict):
        return {name: restricted(each, known[name]) for name, each in found.items() if name in known}
    if isinstance(found, list) and isinstance(known, list):
        sample = _merged(known)
        return [restricted(each, sample) for each in found]
    return found


def _merged(entries: list[Any]) -> Any:
    """One entry that has all fields of these."""
    merged: dict[str, Any] = {}
    for each in entries:
        if not isinstance(each, dict):
            return each
        for name, value in each.items():
            before = merged.get(name)
            merged[name] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    return merged

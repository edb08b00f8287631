"""How are lines of Python put together? Indentation, names that do not clash, and the struct formats that a module
needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from schemas.generator.model import WIDTHS, FieldSpec

LINE = 120
INTEGER_LISTS = {
    "b": ("READ_INT8S", "WRITE_INT8S"),
    "h": ("READ_INT16S", "WRITE_INT16S"),
    "i": ("READ_INT32S", "WRITE_INT32S"),
}
"""Format letters of integers that come in lists, and the tables of ``primitives`` that read and write a few of them."""

FEW = 17
"""The length of those tables."""

_TYPES = {
    "bool": "bool",
    "float64": "float",
    "uuid": "bytes",
    "string": "str",
    "bytes": "bytes",
    "records": "bytes | memoryview",
}


class Lines:
    """Lines of code at a depth; a function's body begins at depth 1."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def add(self, *lines: str) -> None:
        self.lines.extend("    " * self.depth + line for line in lines)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.add("pass")
        self.depth -= 1

    def call(self, head: str, arguments: list[str], tail: str) -> None:
        """``head`` + arguments + ``tail``, on one line if it fits."""
        line = f"{head}{', '.join(arguments)}{tail}"
        if len(line) + 4 * self.depth <= LINE:
            self.add(line)
            return
        self.add(head)
        self.depth += 1
        self.add(*(f"{each}," for each in arguments))
        self.depth -= 1
        self.add(tail)

    def unpack(self, names: list[str], source: str) -> None:
        """Two names or more = source."""
        line = f"{', '.join(names)} = {source}"
        if len(line) + 4 * self.depth <= LINE:
            self.add(line)
        else:
            self.add("(", *(f"    {name}," for name in names), f") = {source}")

    def condition(self, parts: list[str], word: str) -> None:
        """``if a word b word c:``; the block is up to the caller."""
        line = f"if {f' {word} '.join(parts)}:"
        if len(line) + 4 * self.depth <= LINE:
            self.add(line)
        else:
            self.add("if (", f"    {parts[0]}", *(f"    {word} {part}" for part in parts[1:]), "):")


class Formats:
    """The prebuilt ``struct.Struct`` methods that a module uses, named after their format: unpack_ih, pack_q.

    In the names x stands for a bool, u for a UUID, w for uint16, n for the byte that goes into the local n, and _ for a
    byte that is passed over.
    """

    def __init__(self) -> None:
        self.unpack: set[str] = set()
        self.pack: set[str] = set()
        self.iterate: set[str] = set()

    def unpacker(self, letters: list[str]) -> str:
        self.unpack.add("".join(letters))
        return f"unpack_{_name(letters)}"

    def iterator(self, letters: list[str]) -> str:
        self.iterate.add("".join(letters))
        return f"iterate_{_name(letters)}"

    def packer(self, letters: list[str]) -> str:
        self.pack.add("".join(letters))
        return f"pack_{_name(letters)}"

    def definitions(self) -> list[str]:
        lines = [f'unpack_{_name([text])} = Format(">{text}").unpack_from' for text in sorted(self.unpack)]
        lines += [f'iterate_{_name([text])} = Format(">{text}").iter_unpack' for text in sorted(self.iterate)]
        return lines + [f'pack_{_name([text])} = Format(">{text}").pack' for text in sorted(self.pack)]


def _name(letters: list[str]) -> str:
    return "".join(letters).replace("x", "_").replace("?", "x").replace("16s", "u").replace("H", "w").replace("B", "n")


def width(letters: list[str]) -> int:
    """Bytes that these format letters take, without alignment."""
    return sum(1 if letter == "B" else WIDTHS[letter] for letter in letters)


def literal(field: FieldSpec) -> str:
    """The field's default as an expression."""
    value: Any = field.default
    if field.struct is not None and value == () and not field.is_array:
        return f"{field.struct.name}()"
    if field.kind == "uuid" and not field.is_array:
        return "ZERO_UUID"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bytes):
        return 'b""'
    return repr(value)


def differs(field: FieldSpec, expression: str) -> str:
    """The expression that says whether a value is *not* its field's default."""
    value = field.default
    if value is None:
        return f"{expression} is not None"
    if value is False and not field.is_array:
        return expression
    if value is True:
        return f"not {expression}"
    return f"{expression} != {literal(field)}"


def python_type(field: FieldSpec) -> str:
    """The annotation of a field."""
    name = field.struct.name if field.struct else _TYPES.get(field.kind, "int")
    if field.is_array:
        name = f"list[{name}]"
    return f"{name} | None" if field.nullable or field.default is None else name

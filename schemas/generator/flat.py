"""How are lists of flat structs read? Flat: nothing but numbers, texts, bytes and lists of integers.

Where every field has a fixed width, all elements are unpacked by one iterator that runs in C.

Else one element is read field by field. The one behind it often has the same shape: texts and bytes of the same
lengths, as many integers, the same nulls, the same tagged section. So a struct format is made of the element just read,
with all that stands *between* its contents (lengths, counts, nulls, tagged section) as bytes that must be the same
again, and the elements that follow are unpacked by one iterator until one has another shape. Where that does not
pay, it is given up after a few tries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.generator.code import INTEGER_LISTS, literal, width
from schemas.generator.model import FIXED, SIZED, WIDTHS, FieldSpec, StructSpec

if TYPE_CHECKING:
    from schemas.generator.decode import DecodeEmitter

TRIES = 4
WORTH = 12
"""So many elements at least must follow, or making a format does not pay."""


def is_flat(struct: StructSpec, version: int) -> bool:
    """Whether a struct has only numbers, texts, bytes and lists of integers in that version, and no tagged fields."""
    if any(version in field.tagged for field in struct.fields):
        return False
    return all(is_content(f) or is_number(f) for f in struct.fields if version in f.versions)


def is_number(field: FieldSpec) -> bool:
    return field.kind in FIXED and not field.is_array


def is_content(field: FieldSpec) -> bool:
    """Whether its length differs from element to element."""
    if field.is_array:
        return FIXED.get(field.kind) in INTEGER_LISTS
    return field.kind in SIZED and field.kind != "records"


class FlatArray:
    """Emits the reading of one list into the local ``values``; n is its count."""

    def __init__(self, emitter: DecodeEmitter, struct: StructSpec, values: str, name: str) -> None:
        self.emitter = emitter
        self.out = emitter.out
        self.struct = struct
        self.values = values
        self.item = emitter.fresh(name)
        self.present = [field for field in struct.fields if field.is_regular(emitter.version)]
        self.absent = [field for field in struct.fields if emitter.version not in field.versions]

    def emit(self) -> None:
        if all(is_number(field) for field in self.present):
            self.fixed()
        else:
            self.shaped()

    def absent_and_unknown(self, unknown: str) -> list[str]:
        """Assignments of what no element of this version has, and of its unknown tagged fields."""
        lines = [f"{self.item}.{field.attribute} = {literal(field)}" for field in self.absent]
        return [*lines, f"{self.item}.unknown_tagged_fields = {unknown}"]

    def fixed(self) -> None:
        emitter, out, item, values = self.emitter, self.out, self.item, self.values
        letters = [FIXED[field.kind] for field in self.present]
        names = [f"{item}.{field.attribute}" for field in self.present]
        count = "n"
        if emitter.flexible:
            count = emitter.fresh(f"{values}_count")
            out.add(f"{count} = n")
            letters.append("B")
            names.append("n")
        size = width(letters)
        row = emitter.fresh("row")
        iterate = emitter.formats.iterator(letters)
        with out.block(f"for {row} in {iterate}(memoryview(data)[pos : pos + n * {size}]):"):
            out.add(f"{item} = new({self.struct.name})", f"{', '.join(names)}{',' * (len(names) == 1)} = {row}")
            if emitter.flexible:  # a tagged section that is not empty: on with the slow loop
                out.add("if n:", "    break")
            out.add(*self.absent_and_unknown("()"), f"{values}.append({item})")
        if not emitter.flexible:
            out.add(f"pos += n * {size}")
            return
        out.add(f"pos += len({values}) * {size}")
        with out.block(f"for _ in range({count} - len({values})):"):
            emitter.struct_into(item, self.struct)
            out.add(f"{values}.append({item})")

    def shaped(self) -> None:
        emitter, out, item, values = self.emitter, self.out, self.item, self.values
        left, tries, start = (emitter.fresh(f"{values}_{name}") for name in ("left", "tries", "start"))
        shape = _Shape(self, start)
        out.add(f"{left} = n", f"{tries} = {TRIES}")
        with out.block(f"while {left}:"):
            out.add(f"{start} = pos", f"{item} = new({self.struct.name})")
            emitter.marks = shape.marks
            emitter.fields(item, self.struct)
            emitter.marks = {}
            out.add(f"{values}.append({item})", f"{left} -= 1")
            with out.block(f"if {tries} and {left} >= {WORTH}:"):
                self.same(shape, left, tries, start)

    def same(self, shape: _Shape, left: str, tries: str, start: str) -> None:
        """The elements behind the one just read, as long as they have its shape."""
        emitter, out, item, values = self.emitter, self.out, self.item, self.values
        size, done, unknown = (emitter.fresh(f"{values}_{name}") for name in ("size", "done", "unknown"))
        row = emitter.fresh("row")
        form = shape.emit()
        out.add(f"{unknown} = {item}.unknown_tagged_fields", f"{done} = len({values})", f"{size} = pos - {start}")
        out.add(f"stop = pos + min({left}, (end - pos) // {size}) * {size}")
        with out.block(f"for {row} in iter_unpack({form}, memoryview(data)[pos:stop]):"):
            out.unpack(shape.names, row)
            out.condition(shape.differences, "or")
            out.add("    break")
            out.add(f"{item} = new({self.struct.name})", *shape.assignments)
            out.add(*self.absent_and_unknown(unknown), f"{values}.append({item})")
        out.add(f"{done} = len({values}) - {done}", f"pos += {done} * {size}", f"{left} -= {done}")
        out.add(f"if not {done}:", f"    {tries} -= 1")


class _Shape:
    """The format that one element gives: its contents and numbers, and the bytes between them."""

    def __init__(self, flat: FlatArray, start: str) -> None:
        self.flat = flat
        self.format: list[str] = []
        self.names: list[str] = []
        self.differences: list[str] = []
        self.assignments: list[str] = []
        self.behind = start
        """The end of the last content, as an expression."""
        fresh = flat.emitter.fresh
        self.stems = {field.name: fresh(field.attribute) for field in flat.present if is_content(field)}
        self.marks = {f"{flat.item}.{f.attribute}": self.stems[f.name] for f in flat.present if f.name in self.stems}
        """Where the emitter has to keep ``<stem>_end``, and for texts ``<stem>_n``."""

    def emit(self) -> str:
        """Emit what the format is made of; return it as an expression."""
        numbers: list[str] = []
        for field in self.flat.present:
            if field.name not in self.stems:
                numbers.append(FIXED[field.kind])
                self.take(FIXED[field.kind], field, "{0}")
            else:
                self.content(field, width(numbers))
                numbers = []
        if self.flat.emitter.flexible:
            self.between("pos", width(numbers))
        return f'f">{"".join(self.format)}"'

    def content(self, field: FieldSpec, numbers: int) -> None:
        stem = self.stems[field.name]
        value = f"{self.flat.item}.{field.attribute}"
        letter = FIXED.get(field.kind)
        if letter:
            size = f"len({value}) * {WIDTHS[letter]}"
        elif field.kind == "bytes":
            size = f"len({value})"
        else:
            size = f"{stem}_n - 1" if self.flat.emitter.flexible and not field.never_flexible else f"{stem}_n"
        nullable = self.flat.emitter.version in field.nullable
        if nullable:
            self.flat.out.add(f"{stem}_null = {value} is None")
            size = f"0 if {value} is None else {size}"
        self.flat.out.add(f"{stem}_size = {size}")
        self.between(f"{stem}_end - {stem}_size", numbers)
        read = '{0}.decode() if {0} else ""' if field.kind == "string" else "{0}"
        if letter:
            self.flat.out.add(
                f'{stem}_list = integers("{letter}", len({value}))'
                if not nullable
                else f'{stem}_list = integers("{letter}", len({value} or ()))'
            )
            read = f"list({stem}_list({{0}}))"
        self.take(f"{{{stem}_size}}s", field, f"None if {stem}_null else {read}" if nullable else read)
        self.behind = f"{stem}_end"

    def take(self, letter: str, field: FieldSpec, read: str) -> None:
        """A number or a content goes into its attribute."""
        local = self.stems.get(field.name) or self.flat.emitter.fresh(field.attribute)
        self.format.append(letter)
        self.names.append(local)
        self.assignments.append(f"{self.flat.item}.{field.attribute} = {read.format(local)}")

    def between(self, until: str, numbers: int) -> None:
        """Bytes from behind the numbers that follow the last content, until there; they must be the same again."""
        same, gap = self.flat.emitter.fresh("same"), self.flat.emitter.fresh("gap")
        begin = f"{self.behind} + {numbers}" if numbers else self.behind
        self.flat.out.add(f"{same} = data[{begin} : {until}]")
        self.format.append(f"{{len({same})}}s")
        self.names.append(gap)
        self.differences.append(f"{gap} != {same}")

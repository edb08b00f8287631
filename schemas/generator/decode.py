"""How is a version of a message read? Emits one straight-line function for it.

- Objects are made by ``object.__new__`` and their slots set as the fields are read: half the price of a constructor.
- Fields of a fixed width that stand in a row are read by one unpack, together with the length or count that follows.
- The common case of a varint, one byte, stands in line; for what is often longer (bytes), two bytes do.
- Nested structs stand in line; only shared ones are functions.
- Elements of a list often have the same shape: the lengths of the one before. ``flat.py`` reads those many at a time.

While a field is read ``pos`` is at its first byte, for a varint at its last. ``n`` is the last length, count or flag.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from schemas.generator.code import FEW, INTEGER_LISTS, Formats, Lines, literal, python_type, width
from schemas.generator.flat import FlatArray, is_flat
from schemas.generator.model import FIXED, WIDTHS, FieldSpec, MessageSpec, StructSpec

_TAKEN = {"data", "pos", "n", "end", "stop", "message", "result", "new"}


class DecodeEmitter:
    """Emits the reading functions of one version."""

    def __init__(self, message: MessageSpec, version: int, formats: Formats, shared: dict[str, str]) -> None:
        self.message = message
        self.version = version
        self.flexible = message.is_flexible(version)
        self.formats = formats
        self.shared = shared
        """The names of the functions that read this version's shared structs."""
        self.out = Lines()
        self.needs_end = False
        self.in_tagged = False
        self.taken = set(_TAKEN)
        self.run: list[tuple[str, str]] = []
        self.marks: dict[str, str] = {}
        """Targets whose end (and for texts: length) is to be kept, in locals of that stem."""

    def top(self) -> list[str]:
        """The body of the function (data, pos) -> message."""
        self.struct_into("message", self.message.top)
        self.out.add("if pos != len(data):", "    raise Malformed", "return message")
        return self.body()

    def function(self, struct: StructSpec) -> list[str]:
        """The body of a shared struct's function (data, pos) -> (struct, pos)."""
        self.struct_into("result", struct)
        self.out.add("return result, pos")
        return self.body()

    def body(self) -> list[str]:
        return (["    end = len(data)"] if self.needs_end else []) + self.out.lines

    def fresh(self, name: str) -> str:
        """A local name that nothing else has."""
        chosen, i = name, 2
        while chosen in self.taken:
            chosen, i = f"{name}_{i}", i + 1
        self.taken.add(chosen)
        return chosen

    # --- structs

    def struct_into(self, holder: str, struct: StructSpec) -> None:
        """Make a struct and read its fields into it."""
        self.out.add(f"{holder} = new({struct.name})")
        self.fields(holder, struct)

    def fields(self, holder: str, struct: StructSpec) -> None:
        for field in struct.fields:
            target = f"{holder}.{field.attribute}"
            if field.is_regular(self.version):
                self.field(field, target, self.flexible and not field.never_flexible)
            elif self.version not in field.tagged:
                self.out.add(f"{target} = {literal(field)}")
        if self.flexible:
            self.tagged_section(holder, struct)
        else:
            self.flush()
            self.out.add(f"{holder}.unknown_tagged_fields = ()")

    def tagged_section(self, holder: str, struct: StructSpec) -> None:
        known = self.known_tagged(struct)
        unknown = f"{holder}.unknown_tagged_fields"
        self.out.add(*(f"{holder}.{f.attribute} = {literal(f)}" for f in known))
        self.flush("B")
        with self.out.block("if n:"):
            self.out.add("n, pos = read_uvarint(data, pos)")
            if known:
                self.tagged_fields(holder, known)
            else:
                self.out.add(f"{unknown}, pos = read_tagged(data, pos, n)")
        with self.out.block("else:"):
            self.out.add(f"{unknown} = ()", "pos += 1")

    def known_tagged(self, struct: StructSpec) -> list[FieldSpec]:
        return sorted((f for f in struct.fields if self.version in f.tagged), key=lambda f: f.tag or 0)

    def tagged_fields(self, holder: str, known: list[FieldSpec]) -> None:
        out = self.out
        tag, stop, others = (self.fresh(f"{holder}_{name}") for name in ("tag", "stop", "others"))
        outer, self.in_tagged = self.in_tagged, True
        out.add(f"{others} = []")
        with self.repeat(tag):
            out.add(f"{tag}, pos = read_uvarint(data, pos)", "n, pos = read_uvarint(data, pos)", f"{stop} = pos + n")
            with out.block(f"if {stop} > len(data):"):
                out.add("raise Malformed")
            word = "if"
            for field in known:
                with out.block(f"{word} {tag} == {field.tag}:"):
                    self.field(field, f"{holder}.{field.attribute}", True, null="n == 0")
                    self.flush()
                word = "elif"
            with out.block("else:"):
                out.add(f"{others}.append(({tag}, data[pos:{stop}]))", f"pos = {stop}")
            with out.block(f"if pos != {stop}:"):
                out.add("raise Malformed")
        out.add(f"{holder}.unknown_tagged_fields = tuple({others})")
        self.in_tagged = outer

    # --- fields

    def field(self, field: FieldSpec, target: str, flexible: bool, null: str = "n > 127") -> None:
        """``null``: what is true of the byte that says that a struct is null; a tagged field has another."""
        nullable = self.version in field.nullable
        if field.is_array:
            self.array(field, target, flexible, nullable)
        elif field.kind in FIXED:
            self.run.append((FIXED[field.kind], target))
        elif field.kind == "struct":
            self.nested(field, target, nullable, null)
        else:
            self.sized(field.kind, target, flexible, nullable)

    def flush(self, follows: str = "") -> None:
        """Read the fields of fixed width that wait, and into ``n`` what follows in that format: length, count or flag.

        ``pos`` is behind all of it then, but at the byte itself where a varint follows ("B").
        """
        run = [*self.run, (follows, "n")] if follows else self.run
        self.run = []
        if not run:
            return
        letters = [letter for letter, _ in run]
        names = [name for _, name in run]
        if letters == ["B"]:
            self.out.add("n = data[pos]")
        elif letters == ["16s"]:
            self.out.add(f"{names[0]} = data[pos : pos + 16]")
        else:
            target = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
            self.out.add(f"{target} = {self.formats.unpacker(letters)}(data, pos)")
        step = width(letters) - (1 if follows == "B" else 0)
        if step:
            self.out.add(f"pos += {step}")

    def nested(self, field: FieldSpec, target: str, nullable: bool, null: str) -> None:
        assert field.struct is not None
        if not nullable:
            self.flush()
            self.one(field.struct, target, field.attribute)
            return
        self.flush("B")
        self.out.add("pos += 1")
        with self.out.block(f"if {null}:"):
            self.out.add(f"{target} = None")
        with self.out.block("else:"):
            self.one(field.struct, target, field.attribute)

    def one(self, struct: StructSpec, target: str, name: str) -> None:
        if struct.shared:
            self.out.add(f"{target}, pos = {self.shared[struct.name]}(data, pos)")
            return
        holder = self.fresh(name)
        self.struct_into(holder, struct)
        self.out.add(f"{target} = {holder}")

    def sized(self, kind: str, target: str, flexible: bool, nullable: bool) -> None:
        start = self.length(kind, flexible)
        value = f"data[{start}:stop]" if start == "pos" else f"data[{start} : stop]"
        if kind == "string":
            value += ".decode()"
        elif kind == "records":
            value = f"memoryview({value.replace('[', ')[', 1)}"
        read = ["stop = pos + n"]
        if kind == "records":  # a view is handed out: nothing later would notice that it is short
            read += ["if stop > len(data):", "    raise Malformed"]
        read += [f"{target} = {value}", "pos = stop"]
        step = ["pos += 1"] if flexible else []
        empty = [f'{target} = ""', *step] if kind == "string" else []  # what may be null is often empty instead
        self.null_or(flexible, nullable, [f"{target} = None", *step], read, empty)
        if target in self.marks:
            self.out.add(
                f"{self.marks[target]}_end = pos", *([f"{self.marks[target]}_n = n"] if kind == "string" else [])
            )

    def length(self, kind: str, flexible: bool) -> str:
        """Read a length into n; return the expression of where the content starts."""
        if not flexible:
            self.flush("h" if kind == "string" else "i")
            return "pos"
        self.flush("B")
        with self.out.block("if n > 127:"):
            if kind == "string":
                self.out.add("n, pos = read_string_length(data, pos)", "pos -= 1")
            else:
                self.out.add("pos += 1", "n += (data[pos] << 7) - 128")
                with self.out.block("if n > 16383:"):
                    self.out.add("n, pos = read_uvarint(data, pos - 1)", "pos -= 1")
        return "pos + 1"

    def null_or(
        self, flexible: bool, nullable: bool, null: list[str], read: list[str], empty: list[str] | None = None
    ) -> None:
        """Go on with ``null`` or with ``read``, as n says; ``empty`` is a short cut for a length of 0."""
        out = self.out
        if not nullable:
            with out.block("if n == 0:" if flexible else "if n < 0:"):
                out.add("raise Malformed")
            out.add(*read)
            return
        with out.block("if n == 0:" if flexible else "if n < 0:"):
            if not flexible:
                out.add("if n != -1:", "    raise Malformed")
            out.add(*null)
        if empty:
            with out.block("elif n == 1:" if flexible else "elif n == 0:"):
                out.add(*empty)
        with out.block("else:"):
            out.add(*read)

    # --- lists

    def array(self, field: FieldSpec, target: str, flexible: bool, nullable: bool) -> None:
        out = self.out
        if flexible:
            self.flush("B")
            with out.block("if n < 128:"):
                out.add("pos += 1")
            with out.block("else:"):
                out.add("n, pos = read_uvarint(data, pos)")
        else:
            self.flush("i")
        self.null_or(flexible, nullable, [f"{target} = None"], [])
        if nullable:
            if out.lines[-1].strip() == "pass":
                out.lines.pop()
            out.depth += 1
        if flexible:
            out.add("n -= 1")
        self.elements(field, target, flexible)
        if nullable:
            out.depth -= 1
        if target in self.marks:
            out.add(f"{self.marks[target]}_end = pos")

    def elements(self, field: FieldSpec, target: str, flexible: bool) -> None:
        out = self.out
        least = self.least_size(field)
        letter = FIXED.get(field.kind)
        if letter in INTEGER_LISTS:
            with out.block(f"if n < {FEW}:"):
                out.add(f"{target} = list({INTEGER_LISTS[letter][0]}[n](data, pos))")
            with out.block("else:"):
                out.add(f'{target} = list(unpack_from(f">{{n}}{letter}", data, pos))')
            out.add(f"pos += n * {least}" if least > 1 else "pos += n")
            return
        self.needs_end = True
        with out.block(f"if n * {least} > end - pos:" if least > 1 else "if n > end - pos:"):
            out.add("raise Malformed")
        if letter == "16s":
            out.add(f"{target} = [data[i : i + 16] for i in range(pos, pos + n * 16, 16)]", "pos += n * 16")
            return
        assert letter is None, f"{field.name}: lists of {field.kind} are not made yet"
        values = self.fresh(field.attribute)
        self.out.add(f"{values}: {python_type(field).removesuffix(' | None')} = []")
        if field.struct is None:
            with self.repeat(values):
                item = self.fresh(singular(field.attribute))
                self.sized(field.kind, item, flexible, False)
                out.add(f"{values}.append({item})")
        elif field.struct.shared:
            with self.repeat(values):
                item = self.fresh(singular(field.attribute))
                out.add(f"{item}, pos = {self.shared[field.struct.name]}(data, pos)", f"{values}.append({item})")
        else:
            self.structs(field.struct, values, singular(field.attribute))
        out.add(f"{target} = {values}")

    def structs(self, struct: StructSpec, values: str, name: str) -> None:
        if is_flat(struct, self.version) and not self.in_tagged:
            FlatArray(self, struct, values, name).emit()
            return
        item = self.fresh(name)
        with self.repeat(values):
            self.struct_into(item, struct)
            self.out.add(f"{values}.append({item})")

    def repeat(self, name: str) -> AbstractContextManager[None]:
        """A loop that is run n times.

        The count has a name of its own: compiled by mypyc, a loop over range(n) looks at n each time, which changes.
        """
        count = self.fresh(f"{name}_count")
        self.out.add(f"{count} = n")
        return self.out.block(f"for _ in range({count}):")

    # --- what the bytes must at least be

    def least_size(self, field: FieldSpec) -> int:
        if field.kind in FIXED:
            return WIDTHS[FIXED[field.kind]]
        if field.struct is not None:
            inner = [f for f in field.struct.fields if f.is_regular(self.version)]
            return self.flexible + sum(self.least_field_size(f) for f in inner)
        if self.flexible and not field.never_flexible:
            return 1
        return 2 if field.kind == "string" else 4

    def least_field_size(self, field: FieldSpec) -> int:
        if field.is_array:
            return 1 if self.flexible else 4
        if field.struct is not None and self.version in field.nullable:
            return 1
        return self.least_size(field)


def singular(name: str) -> str:
    """What one of them is called: members → member, topic_data → topic_data_item."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us")) else f"{name}_item"

"""How is a version of a message written? Emits one straight-line function for it.

Lengths and encoded strings are computed first; then all pieces up to the next loop are added to the output in one step,
with fixed-width fields in a row packed by one call. The whole is joined once.
"""

from __future__ import annotations

from schemas.generator.code import FEW, INTEGER_LISTS, Formats, Lines, differs
from schemas.generator.model import FIXED, FieldSpec, MessageSpec, StructSpec


class EncodeEmitter:
    """Emits the writing functions of one version."""

    def __init__(self, message: MessageSpec, version: int, formats: Formats, shared: dict[str, str]) -> None:
        self.message = message
        self.version = version
        self.flexible = message.is_flexible(version)
        self.formats = formats
        self.shared = shared
        self.out = Lines()
        self.run: list[tuple[str, str]] = []
        self.pieces: list[str] = []
        self.sink = "out"
        self.uses_out = False
        self.locals = 0

    def top(self) -> list[str]:
        """The body of the function (m) -> bytes."""
        self.struct(self.message.top, "m")
        self.end_run()
        if not self.uses_out:
            if len(self.pieces) > 1:
                self.out.call('return b"".join((', self.pieces, "))")
            else:
                self.out.add(f"return {self.joined()}")
            return self.out.lines
        self.flush()
        self.out.add('return b"".join(out)')
        return ["    out: list[bytes | memoryview] = []", *self.out.lines]

    def function(self, struct: StructSpec) -> list[str]:
        """The body of a shared struct's function (out, m) -> None."""
        self.struct(struct, "m")
        self.flush()
        return self.out.lines

    def fresh(self, stem: str) -> str:
        self.locals += 1
        return f"{stem}{self.locals}"

    # --- pieces

    def end_run(self) -> None:
        if not self.run:
            return
        letters = [letter for letter, _ in self.run]
        values = ", ".join(value for _, value in self.run)
        self.run = []
        if letters == ["16s"]:
            self.pieces.append(values)
        elif letters == ["?"]:
            self.pieces.append(f'b"\\1" if {values} else b"\\0"')
        else:
            self.pieces.append(f"{self.formats.packer(letters)}({values})")

    def piece(self, expression: str) -> None:
        self.end_run()
        self.pieces.append(expression)

    def joined(self) -> str:
        """What has been collected as one expression, where nothing has gone out before it."""
        self.end_run()
        pieces, self.pieces = self.pieces, []
        if len(pieces) == 1:
            return pieces[0]
        return f'b"".join(({", ".join(pieces)}))' if pieces else 'b""'

    def flush(self) -> None:
        """Before anything that branches: what has been collected goes out."""
        self.end_run()
        self.uses_out |= bool(self.pieces) and self.sink == "out"
        if len(self.pieces) == 1:
            self.out.add(f"{self.sink}.append({self.pieces[0]})")
        elif self.pieces:
            self.out.call(f"{self.sink} += (", self.pieces, ")")
        self.pieces = []

    def prefix(self, value: str, writer: str = "write_uvarint") -> None:
        """An unsigned varint; ``writer`` writes one of more than a byte."""
        self.piece(f"ONE_BYTE[{value}] if {value} < 128 else {writer}({value})")

    # --- structs

    def struct(self, struct: StructSpec, m: str) -> None:
        for field in struct.fields:
            if self.version not in field.versions and not field.ignorable:
                self.absent(field, f"{m}.{field.attribute}")
        for field in struct.fields:
            if field.is_regular(self.version):
                self.field(field, f"{m}.{field.attribute}", self.flexible and not field.never_flexible)
        if self.flexible:
            self.tagged_section(struct, m)

    def absent(self, field: FieldSpec, value: str) -> None:
        with self.out.block(f"if {differs(field, value)}:"):
            self.out.add(f'raise EncodeError("{field.name} is set, which this version lacks")')

    def tagged_section(self, struct: StructSpec, m: str) -> None:
        known = sorted((f for f in struct.fields if self.version in f.tagged), key=lambda f: f.tag or 0)
        unknown = f"{m}.unknown_tagged_fields"
        if not known:
            self.piece(f'write_tagged({unknown}) if {unknown} else b"\\0"')
            return
        self.flush()
        tagged = self.fresh("tagged")
        self.out.add(f"{tagged}: list[tuple[int, bytes]] = [*{unknown}]")
        for field in known:
            value = f"{m}.{field.attribute}"
            with self.out.block(f"if {differs(field, value)}:"):
                self.tagged_value(field, value, tagged)
        self.piece(f'write_tagged({tagged}) if {tagged} else b"\\0"')

    def tagged_value(self, field: FieldSpec, value: str, tagged: str) -> None:
        """Add one tagged field that is not at its default: as one expression if it can be, else by way of a list of
        parts.
        """
        if field.kind == "bool" and not field.is_array:
            opposite = "0" if field.default else "1"
            self.out.add(f'{tagged}.append(({field.tag}, b"\\{opposite}"))')
            return
        sink, self.sink = self.sink, self.fresh("parts")
        before = len(self.out.lines)
        self.field(field, value, True, not_null=field.default is None, tagged=True)
        if any(self.sink in line for line in self.out.lines[before:]):
            self.flush()
            self.out.lines.insert(before, "    " * self.out.depth + f"{self.sink}: list[bytes | memoryview] = []")
            self.out.add(f'{tagged}.append(({field.tag}, b"".join({self.sink})))')
        else:
            self.out.call(f"{tagged}.append((", [str(field.tag), self.joined()], "))")
        self.sink = sink

    # --- fields

    def field(self, field: FieldSpec, value: str, flexible: bool, not_null: bool = False, tagged: bool = False) -> None:
        """``not_null``: it is known not to be null here. ``tagged``: it is a tagged field itself."""
        nullable = self.version in field.nullable and not not_null
        if not nullable and not not_null and (field.nullable or field.default is None):
            value = self.not_null(field, value)
        if field.is_array:
            self.array(field, value, flexible, nullable)
        elif field.kind == "uuid":
            self.uuid(field, value)
        elif field.kind in FIXED:
            self.run.append((FIXED[field.kind], value))
        elif field.kind == "struct":
            if not_null and self.version in field.nullable:
                self.run.append(("b", "1"))  # a struct that can be null says that it is not
            self.nested(field, value, nullable, "0" if tagged else "xff")
        else:
            self.sized(field.kind, value, flexible, nullable)

    def not_null(self, field: FieldSpec, value: str) -> str:
        local = self.fresh("v")
        self.out.add(f"{local} = {value}")
        with self.out.block(f"if {local} is None:"):
            self.out.add(f'raise EncodeError("{field.name} is null, which is not allowed in this version")')
        return local

    def uuid(self, field: FieldSpec, value: str) -> None:
        with self.out.block(f"if len({value}) != 16:"):
            self.out.add(f'raise EncodeError("{field.name} is not 16 bytes long")')
        self.run.append(("16s", value))

    def nested(self, field: FieldSpec, value: str, nullable: bool, null: str) -> None:
        """``null``: the byte that says that the struct is null."""
        assert field.struct is not None
        if not nullable:
            if field.struct.shared:
                self.flush()
            self.one(field.struct, value)
            return
        self.flush()
        local = self.fresh("s")
        self.out.add(f"{local} = {value}")
        with self.out.block(f"if {local} is None:"):
            self.uses_out |= self.sink == "out"
            self.out.add(f'{self.sink}.append(b"\\{null}")')
        with self.out.block("else:"):
            self.run.append(("b", "1"))
            if field.struct.shared:
                self.flush()
            self.one(field.struct, local)
            self.flush()

    def one(self, struct: StructSpec, value: str) -> None:
        if struct.shared:
            self.uses_out |= self.sink == "out"
            self.out.add(f"{self.shared[struct.name]}({self.sink}, {value})")
        elif "." in value:
            local = self.fresh("s")
            self.out.add(f"{local} = {value}")
            self.struct(struct, local)
        else:
            self.struct(struct, value)

    def sized(self, kind: str, value: str, flexible: bool, nullable: bool) -> None:
        data, n = self.fresh("b"), self.fresh("n")
        encoded = f"{value}.encode()" if kind == "string" else value
        plus = " + 1" if flexible else ""
        if nullable:
            local = self.fresh("v")
            self.out.add(f"{local} = {value}")
            encoded = f"{local}.encode()" if kind == "string" else local
            empty = 'b""'
            typed = f"{data}: bytes | memoryview = " if kind == "records" else f"{data} = "
            with self.out.block(f"if {local} is None:"):
                self.out.add(f"{typed}{empty}", f"{n} = {0 if flexible else -1}")
            with self.out.block("else:"):
                self.out.add(f"{data} = {encoded}", f"{n} = len({data}){plus}")
        else:
            self.out.add(f"{data} = {encoded}", f"{n} = len({data}){plus}")
        if flexible:
            self.prefix(n, "write_string_length" if kind == "string" else "write_uvarint")
        else:
            self.run.append(("h" if kind == "string" else "i", n))
        self.piece(data)

    def array(self, field: FieldSpec, value: str, flexible: bool, nullable: bool) -> None:
        n = self.fresh("n")
        plus = " + 1" if flexible else ""
        if nullable:
            local = self.fresh("a")
            self.out.add(f"{local} = {value}")
            self.out.add(f"{n} = {0 if flexible else -1} if {local} is None else len({local}){plus}")
            value = local
        else:
            self.out.add(f"{n} = len({value}){plus}")
        if flexible:
            self.prefix(n)
        else:
            self.run.append(("i", n))
        letter = FIXED.get(field.kind, "")
        if letter in INTEGER_LISTS:
            count = f"len({value})"
            few = f"{INTEGER_LISTS[letter][1]}[{count}](*{value}) if {count} < {FEW}"
            many = f'pack(f">{{{count}}}{letter}", *{value})'
            self.piece(f'b"" if not {value} else {few} else {many}' if nullable else f"{few} else {many}")
            return
        self.flush()
        item = self.fresh("e")
        with self.out.block(f"for {item} in {value} or ():" if nullable else f"for {item} in {value}:"):
            if field.struct is not None:
                self.one(field.struct, item)
            elif field.kind == "uuid":
                self.uuid(field, item)
            else:
                self.sized(field.kind, item, flexible, False)
            self.flush()

"""How is the value of a record checked? Emits one straight-line function for each layout, which makes no objects.

It accepts only what the decoder reads, and gives the value's epoch, if it has one. Where it refuses, the decoder must
be asked: for the error, or because it can read the value after all.

- What has a fixed width is passed over. The passes are added up, and moved over with the next thing that is read.
- Claims are not compared with what is left: whoever goes beyond the end finds it at the next read, or at the end.
- Strings that are not UTF-8 are no errors (``skipping.py``).
- Structs with nothing but numbers, texts, bytes and lists of integers often have the shape of the one before. Then
  their lengths are compared many at a time.

While a field is checked ``pos + ahead`` is its first byte. ``n`` is the last length, count or flag.
"""

from __future__ import annotations

from schemas.generator.code import Formats, Lines, width
from schemas.generator.decode import singular
from schemas.generator.flat import TRIES, is_content, is_flat, is_number
from schemas.generator.model import FIXED, WIDTHS, FieldSpec, MessageSpec, StructSpec, snake_case

EPOCHS = {
    "GroupMetadataValue": "generation",
    "ConnectWorkerGroupMetadataValue": "epoch",
    "ConnectWorkerGroupConnectorsTasksMetadataValue": "epoch",
    "ConnectWorkerGroupTargetAssignmentValue": "assignment_epoch",
    "ConnectWorkerGroupCurrentMemberAssignmentValue": "member_epoch",
    "ConsumerGroupMetadataValue": "epoch",
    "ConsumerGroupTargetAssignmentMetadataValue": "assignment_epoch",
    "ConsumerGroupCurrentMemberAssignmentValue": "member_epoch",
}
"""The field that a check gives back, by record value. Others have no epoch."""
WORTH = 5
"""The fewest structs for which it pays to compare all of them at once."""
_TAKEN = {"data", "pos", "n", "epoch", "start"}


class CheckEmitter:
    """Emits the checking functions of one version."""

    def __init__(self, message: MessageSpec, version: int, formats: Formats, shared: dict[str, str]) -> None:
        self.message = message
        self.version = version
        self.flexible = message.is_flexible(version)
        self.formats = formats
        self.shared = shared
        """The names of the functions that check this version's shared structs."""
        self.out = Lines()
        self.taken = set(_TAKEN)
        self.ahead = 0
        """How many bytes were passed over and not yet added to ``pos``."""
        self.epoch: int | None = None
        """Where the epoch is among them, while it is not read."""
        self.places: list[str] | None = None
        """Where the lengths and flags of the struct are that is checked, if that is asked for."""

    def top(self) -> list[str]:
        """The body of the function (data, pos) -> epoch."""
        name = EPOCHS.get(self.message.name)
        if name is not None:
            self.out.add("epoch: int")
        self.fields(self.message.top, name)
        self.settle()
        with self.out.block("if pos != len(data):"):
            self.out.add("raise Malformed")
        self.out.add("return None" if name is None else "return epoch")
        return self.out.lines

    def function(self, struct: StructSpec) -> list[str]:
        """The body of a shared struct's function (data, pos) -> pos."""
        self.fields(struct)
        self.settle()
        self.out.add("return pos")
        return self.out.lines

    def fresh(self, name: str) -> str:
        """A local name that nothing else has."""
        chosen, i = name, 2
        while chosen in self.taken:
            chosen, i = f"{name}_{i}", i + 1
        self.taken.add(chosen)
        return chosen

    # --- positions

    def here(self, more: int = 0) -> str:
        """The position of the next byte, or of one some bytes further, as an expression."""
        step = self.ahead + more
        return f"pos + {step}" if step else "pos"

    def settle(self) -> None:
        """From here on ``pos`` is the next byte."""
        if self.epoch is not None:
            self.out.add(f"(epoch,) = {self.formats.unpacker(['i'])}(data, {self.expression(self.epoch)})")
            self.epoch = None
        if self.ahead:
            self.out.add(f"pos += {self.ahead}")
            self.ahead = 0

    def expression(self, step: int) -> str:
        return f"pos + {step}" if step else "pos"

    def peek(self) -> None:
        """Read the next byte into ``n``, without passing over it; with the epoch, if it waits."""
        if self.epoch is None:
            self.out.add(f"n = data[{self.here()}]")
            return
        between = self.ahead - self.epoch - WIDTHS["i"]
        unpack = self.formats.unpacker(["i", "x" * between, "B"] if between else ["i", "B"])
        self.out.add(f"epoch, n = {unpack}(data, {self.expression(self.epoch)})")
        self.epoch = None

    def mark(self) -> None:
        """Note where a length, a count or a flag is."""
        if self.places is not None:
            place = self.fresh("place")
            self.out.add(f"{place} = {self.here()}")
            self.places.append(place)

    # --- structs

    def fields(self, struct: StructSpec, epoch: str | None = None) -> None:
        """Check the fields of a struct, and what is behind them. ``epoch``: the field to be kept."""
        for field in struct.fields:
            if not field.is_regular(self.version):
                assert field.attribute != epoch, f"{field.name}: an epoch in a tagged section is not made yet"
                continue
            if field.attribute == epoch:
                assert (field.kind, self.epoch) == ("int32", None)
                self.epoch = self.ahead
            self.field(field, self.flexible and not field.never_flexible)
        if self.flexible:
            self.tagged_section(struct)

    def tagged_section(self, struct: StructSpec) -> None:
        known = sorted((f for f in struct.fields if self.version in f.tagged), key=lambda f: f.tag or 0)
        self.peek()
        self.mark()
        behind = self.here(1)
        with self.out.block("if n:"):
            if known:
                self.out.add(f"n, pos = read_uvarint(data, {self.here()})")
                self.ahead = 0
                self.tagged_fields(struct, known)
            else:
                self.out.add(f"pos = skip_tagged(data, {self.here()})")
        with self.out.block("else:"):
            self.out.add(behind.replace("pos +", "pos +="))
        self.ahead = 0

    def tagged_fields(self, struct: StructSpec, known: list[FieldSpec]) -> None:
        out = self.out
        stem = "" if struct is self.message.top else f"{singular(snake_case(struct.name))}_"
        count, tag, stop = (self.fresh(f"{stem}{name}") for name in ("tags", "tag", "stop"))
        out.add(f"{count} = n")
        with out.block(f"for _ in range({count}):"):
            out.add(f"{tag}, pos = read_uvarint(data, pos)", "n, pos = read_uvarint(data, pos)", f"{stop} = pos + n")
            with out.block(f"if {stop} > len(data):"):
                out.add("raise Malformed")
            word = "if"
            for field in known:
                with out.block(f"{word} {tag} == {field.tag}:"):
                    self.field(field, True, there="n")
                    self.settle()
                word = "elif"
            with out.block("else:"):
                out.add(f"pos = {stop}")
            with out.block(f"if pos != {stop}:"):
                out.add("raise Malformed")

    # --- fields

    def field(self, field: FieldSpec, flexible: bool, there: str = "n < 128") -> None:
        """``there``: what is true of the byte that says that a struct is not null; a tagged field has another."""
        nullable = self.version in field.nullable
        if field.is_array:
            self.array(field, flexible, nullable)
        elif field.kind in FIXED:
            self.ahead += WIDTHS[FIXED[field.kind]]
        elif field.kind != "struct":
            self.sized(field.kind, flexible, nullable)
        elif nullable:
            self.nullable_struct(field, there)
        else:
            self.one(field)

    def nullable_struct(self, field: FieldSpec, there: str) -> None:
        self.peek()
        self.ahead += 1
        self.settle()
        with self.out.block(f"if {there}:"):
            self.one(field)
            self.settle()

    def one(self, field: FieldSpec) -> None:
        assert field.struct is not None
        if field.struct.shared:
            self.settle()
            self.out.add(f"pos = {self.shared[field.struct.name]}(data, pos)")
        else:
            self.fields(field.struct)

    def sized(self, kind: str, flexible: bool, nullable: bool) -> None:
        assert kind in ("string", "bytes"), f"{kind} in a record is not made yet"
        if not flexible:
            self.settle()
            skip = "skip_int16_string" if kind == "string" else "skip_int32_bytes"
            self.out.add(f"pos = {skip}(data, pos, {nullable})")
            return
        self.peek()
        self.mark()
        slow = f"skip_{kind}(data, {self.here()}, {nullable})"
        quick, if_quick = ("(n or 1)", "n < 128") if nullable else ("n", "0 < n < 128")
        self.out.add(f"pos = {self.here()} + {quick} if {if_quick} else {slow}")
        self.ahead = 0

    # --- lists

    def array(self, field: FieldSpec, flexible: bool, nullable: bool) -> None:
        if flexible:
            self.flexible_count(nullable)
        else:
            self.settle()
            self.out.add(f"(n,) = {self.formats.unpacker(['i'])}(data, pos)", "pos += 4")
            with self.out.block("if n < -1:" if nullable else "if n < 0:"):
                self.out.add("raise Malformed")
        count = "n - 1" if flexible else "n"
        self.elements(field, flexible, f"max({count}, 0)" if nullable else count)

    def flexible_count(self, nullable: bool) -> None:
        """Read a count plus one into ``n``; 0 or 1 are no elements."""
        out = self.out
        self.peek()
        self.mark()
        with out.block("if n < 128:"):
            out.add(f"pos += {self.ahead + 1}")
        with out.block("else:"):
            out.add(f"n, pos = read_uvarint(data, {self.here()})")
        self.ahead = 0
        if not nullable:
            with out.block("if n == 0:"):
                out.add("raise Malformed")

    def elements(self, field: FieldSpec, flexible: bool, count: str) -> None:
        """``count``: how many there are, as an expression."""
        out = self.out
        if field.kind in FIXED:
            self.pass_over(count, WIDTHS[FIXED[field.kind]])
            return
        if field.struct is not None and not field.struct.shared and is_flat(field.struct, self.version):
            present = [each for each in field.struct.fields if each.is_regular(self.version)]
            if all(is_number(each) for each in present):
                self.fixed_rows(present, count)
                return
            if self.flexible and all(is_number(each) or is_content(each) for each in present):
                self.alike_rows(field.struct, singular(field.attribute), count)
                return
        rows = self.fresh(f"{field.attribute}_count")
        out.add(f"{rows} = {count}")
        with out.block(f"for _ in range({rows}):"):
            if field.struct is None:
                self.sized(field.kind, flexible, False)
            else:
                self.one(field)
            self.settle()

    def fixed_rows(self, present: list[FieldSpec], count: str) -> None:
        size = width([FIXED[each.kind] for each in present])
        if self.flexible:
            self.out.add(f"pos = skip_fixed_rows(data, pos, {count}, {size + 1})")
        else:
            self.pass_over(count, size)

    def pass_over(self, count: str, size: int) -> None:
        factor = f"({count})" if count == "n - 1" else count
        self.out.add(f"pos += {count}" if size == 1 else f"pos += {factor} * {size}")

    def alike_rows(self, struct: StructSpec, name: str, count: str) -> None:
        """Flat structs: those with the shape of the one before are passed over many at a time."""
        out = self.out
        left, tries, start, same = (self.fresh(f"{name}_{each}") for each in ("left", "tries", "start", "same"))
        out.add(f"{left} = {count}", f"{tries} = {TRIES}")
        with out.block(f"while {left}:"):
            out.add(f"{start} = pos")
            self.places = []
            self.fields(struct)
            places, self.places = self.places, None
            out.add(f"{left} -= 1")
            with out.block(f"if {tries} and {left} >= {WORTH} and not n:"):
                out.add(f"{same} = alike(data, {start}, pos, {left}, ({', '.join(places)}))")
                out.add(f"pos += {same} * (pos - {start})", f"{left} -= {same}")
                out.add(f"if not {same}:", f"    {tries} -= 1")

"""How does a message of ours look in kio, which has a class of its own for every version?

Fields stand in the same order on both sides and are matched by that. kio turns some integers into richer types:
error codes, times, UUIDs.
"""

from __future__ import annotations

import dataclasses
import io
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, get_args
from uuid import UUID

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Message, Request
from schemas.generator.model import snake_case
from tests.protocol.catalogue import is_own

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def kio_class(cls: type[Message], version: int) -> Any:
    """kio's class; fails where kio lacks the version, which is none of ours."""
    kind = "request" if issubclass(cls, Request) else "response"
    api = snake_case(cls.NAME.removesuffix(kind.capitalize()))
    return getattr(import_module(f"kio.schema.{api}.v{version}.{kind}"), cls.NAME)


def written_by_kio(value: Any) -> bytes:
    """kio's bytes of kio's value."""
    buffer = io.BytesIO()
    entity_writer(type(value))(buffer, value)
    return buffer.getvalue()


def read_by_kio(kio: Any, data: bytes) -> Any:
    """kio's value of these bytes, all of them."""
    value, size = entity_reader(kio)(data, 0)
    assert size == len(data)
    return value


def values_that_kio_has(field: Field) -> st.SearchStrategy[Any] | None:
    """Where kio's types are narrower than the wire: known error codes only, and times that Python's types can hold."""
    if field.name.endswith("ErrorCode"):
        return st.sampled_from([int(code) for code in ErrorCode])
    if field.name == "LogAppendTimeMs":
        return st.integers(-1, 10**12)
    if field.name.endswith("Ms") and field.kind == "int64":
        return st.integers(0, 10**12)
    return None


def as_kio(ours: Any, kio: Any, version: int) -> Any:
    """Our struct as kio's, field by field in the order of the schema."""
    fields = [field for field in type(ours).FIELDS if field.is_in(version) and not is_own(field)]
    theirs = dataclasses.fields(kio)
    assert len(fields) == len(theirs), (kio, [f.name for f in fields], [f.name for f in theirs])
    return kio(
        **{
            their.name: _value(getattr(ours, our.attribute), our, their, version)
            for our, their in zip(fields, theirs, strict=True)
        }
    )


def _value(value: Any, ours: Field, theirs: dataclasses.Field[Any], version: int) -> Any:
    if value is None:
        return None
    if ours.kind == "struct":
        cls = _struct_type(theirs.type)
        if ours.is_array:
            return tuple(as_kio(each, cls, version) for each in value)
        return as_kio(value, cls, version)
    convert = _CONVERSIONS.get(theirs.metadata["kafka_type"], lambda each: each)
    return tuple(map(convert, value)) if ours.is_array else convert(value)


def _struct_type(annotation: Any) -> Any:
    """The dataclass inside X, X | None, tuple[X, ...] and tuple[X, ...] | None."""
    while not dataclasses.is_dataclass(annotation):
        annotation = next(each for each in get_args(annotation) if each not in (type(None), ...))
    return annotation


_CONVERSIONS: dict[str, Any] = {
    "error_code": ErrorCode,
    "timedelta_i32": lambda ms: timedelta(milliseconds=ms),
    "timedelta_i64": lambda ms: timedelta(milliseconds=ms),
    "datetime_i64": lambda ms: None if ms == -1 else _EPOCH + timedelta(milliseconds=ms),
    "uuid": lambda raw: UUID(bytes=raw) if any(raw) else None,
}

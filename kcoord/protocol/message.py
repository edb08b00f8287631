"""What is common to every message: its name, its versions, and the way in and out of bytes.

``encode`` and ``decode`` run the straight-line function that was generated for the version. When that fails, the
careful codec goes over the same value or the same bytes once more and says which field is wrong, so that the fast path
keeps no books.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar, Self

from kcoord.protocol import careful
from kcoord.protocol.layout import Field
from kcoord.protocol.primitives import EncodeError

__all__ = ["Message", "Request", "Response", "Struct"]


class Struct:
    """A struct of a message: an attrs class with one attribute a field, for all versions."""

    __slots__ = ()

    FIELDS: ClassVar[tuple[Field, ...]]
    """Its fields in the order of the schema."""


class Message(Struct):
    """A top-level struct: a request, a response, or the key or value of a record."""

    __slots__ = ()

    NAME: ClassVar[str]
    """Kafka's name of the schema, e.g. ``JoinGroupRequest``."""
    API_KEY: ClassVar[int]
    """The API's number; for records the number of the record type (the version of its key)."""
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int]
    """The first flexible version (KIP-482); larger than MAX_VERSION when there is none."""

    _DECODERS: ClassVar[dict[int, Callable[[bytes, int], Any]]]
    _ENCODERS: ClassVar[dict[int, Callable[[Any], bytes]]]

    def encode(self, version: int) -> bytes:
        """The body in that version, without any header.

        Raises EncodeError for a version that is not valid, for a value that does not fit its field, for null where none
        is allowed, and for a field that the version lacks, unless it has its default or the schema calls it ignorable.
        """
        try:
            return self._ENCODERS[version](self)
        except EncodeError as error:
            raise EncodeError(f"{self.NAME} v{version}: {error}") from None
        except (struct.error, TypeError, AttributeError, ValueError, OverflowError, KeyError) as error:
            raise careful.explain_encode(self, version, error) from error

    @classmethod
    def decode(cls, data: bytes, version: int, pos: int = 0) -> Self:
        """Read a body that starts at ``pos`` and ends where ``data`` ends.

        Strings that are not UTF-8 are read with U+FFFD in place of what is wrong, as Kafka does. Fields of type
        ``records`` are slices of ``data``, not copies. Raises DecodeError for a version that is not valid and for data
        that is short, too long, or lies about a length or a count.
        """
        try:
            message: Self = cls._DECODERS[version](data, pos)
            return message
        except UnicodeDecodeError:
            return careful.decode(cls, data, version, pos)
        except (IndexError, struct.error, ValueError, OverflowError, KeyError) as fault:
            raise careful.explain_decode(cls, data, version, pos, fault) from None


class Request(Message):
    """A request; also what a server reads."""

    __slots__ = ()


class Response(Message):
    """A response; also what a server writes."""

    __slots__ = ()

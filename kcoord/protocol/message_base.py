"""The base classes of messages: name, versions, encoding and decoding.

``encode`` and ``decode`` run the straight-line function that was generated for the version. If it fails, the careful
codec goes over the same value or bytes again and says which field is wrong. So the fast path need not track its
position.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, ClassVar, Self

from kcoord.protocol import explaining_codec
from kcoord.protocol.layout import MessageLayout, Struct
from kcoord.protocol.primitives import EncodeError

__all__ = ["Message", "RecordValue", "Request", "Response", "Struct"]


class Message(MessageLayout):
    """A top-level struct: a request, a response, or the key or value of a record."""

    __slots__ = ()

    _DECODERS: ClassVar[dict[int, Callable[[bytes, int], Any]]]
    _ENCODERS: ClassVar[dict[int, Callable[[Any], bytes]]]

    def encode(self, version: int) -> bytes:
        """The body in this version, without a header.

        Raises EncodeError for an invalid version, for a value that does not fit its field, for a null that is not
        allowed, and for a field that the version lacks, unless the field has its default or the schema calls it
        ignorable.
        """
        try:
            return self._ENCODERS[version](self)
        except EncodeError as error:
            raise EncodeError(f"{self.NAME} v{version}: {error}") from None
        except (struct.error, TypeError, AttributeError, ValueError, OverflowError, KeyError) as error:
            raise explaining_codec.explain_encode(self, version, error) from error

    @classmethod
    def decode(cls, data: bytes, version: int, pos: int = 0) -> Self:
        """Read a body that starts at ``pos`` and ends where ``data`` ends.

        Strings that are not UTF-8 are read with U+FFFD for each wrong part, as in Kafka. Fields of type ``records`` are
        slices of ``data``, not copies. Raises DecodeError for an invalid version, and for data that is too short, too
        long, or has a wrong length or count.
        """
        try:
            message: Self = cls._DECODERS[version](data, pos)
            return message
        except UnicodeDecodeError:
            return explaining_codec.decode(cls, data, version, pos)
        except (IndexError, struct.error, ValueError, OverflowError, KeyError) as fault:
            raise explaining_codec.explain_decode(cls, data, version, pos, fault) from None


class Request(Message):
    """A request: what a client sends and a server reads."""

    __slots__ = ()


class Response(Message):
    """A response: what a server writes and a client reads."""

    __slots__ = ()


class RecordValue(Message):
    """The value of a record."""

    __slots__ = ()

    EPOCH: ClassVar[str | None]
    """The field that has the value's epoch or generation. None: it has none."""
    _CHECKS: ClassVar[dict[int, Callable[[bytes, int], int | None]]]
    """By version: whether the bytes are a value, without making one. Gives the epoch. An exception says nothing: the
    decoder may still read these bytes.
    """
    LISTS: ClassVar[int] = 0
    """How many lists `_FINDERS` find, one behind the other."""
    _FINDERS: ClassVar[dict[int, Callable[[bytes, int], tuple[int, int]]]] = {}
    """By version: where these lists begin, and where they end. Only for bytes that are a value."""

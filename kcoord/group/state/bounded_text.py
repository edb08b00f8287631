"""Bounded text: texts from clients, cut so that every text that is made from them stays small.

Ids and reasons come from clients and may be as long as the protocol allows (32,767 bytes). A text that names several of
them, for instance the reason of an epoch, is stored and sent again. It must fit a record and a response, however long
its parts are.
"""

from __future__ import annotations

NAME_CHARS = 200
"""A longer name is shortened in the middle: it begins with the client id, and its end makes it unique."""
TEXT_CHARS = 4_000
"""A longer text is cut at the end. UTF-8 needs at most 4 bytes for a character, so the text fits a protocol string."""
CUT = "…"


def bounded_name(name: str) -> str:
    """`name`, shortened in the middle if it is longer than `NAME_CHARS`."""
    if len(name) <= NAME_CHARS:
        return name
    end = NAME_CHARS // 2
    return f"{name[: NAME_CHARS - end - len(CUT)]}{CUT}{name[-end:]}"


def bounded_text(text: str) -> str:
    """`text`, cut at the end if it is longer than `TEXT_CHARS`."""
    return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - len(CUT)] + CUT

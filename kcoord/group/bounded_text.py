"""Bounded text: what clients choose, cut so that whatever is composed of it stays small.

Ids and reasons come from clients and may be as long as the wire allows (32,767 bytes). A text that names several of
them, the reason of an epoch for instance, is stored and sent again: it must fit both whatever the parts are.
"""

from __future__ import annotations

NAME_CHARS = 200
"""A longer name is shortened in its middle: the beginning is the client's id, the end makes it unique."""
TEXT_CHARS = 4_000
"""A longer text is cut at its end. UTF-8 takes at most 4 bytes a character, so it fits a string of the wire."""
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

"""What goes wrong in a worker, in words for people: the coordinator is told, and `kcoord groups describe` shows it."""

from __future__ import annotations

import attrs

__all__ = ["MOST_CHARS", "Troubles"]

MOST_CHARS = 500
"""So much is told; the log has it all."""
_CUT = "…"


@attrs.define
class Troubles:
    """What goes wrong now."""

    _texts: dict[str, str] = attrs.Factory(dict)
    _has_said: bool = False

    def tell(self, what: str, text: str | None) -> None:
        """`what` (a callback, a task) goes wrong in that way; None: it does not any more."""
        if text is None:
            self._texts.pop(what, None)
        else:
            self._texts[what] = " ".join(text.split())
            self._has_said = True

    @property
    def said(self) -> str | None:
        """All of it, in one line; empty where nothing goes wrong any more, None where nothing ever has."""
        if not self._has_said:
            return None
        text = "; ".join(f"{what} {text}" for what, text in self._texts.items())
        return text if len(text) <= MOST_CHARS else text[: MOST_CHARS - len(_CUT)] + _CUT

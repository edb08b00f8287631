"""What goes wrong in a worker, as text for people: the coordinator is told, and `kcoord groups describe` shows it."""

from __future__ import annotations

import attrs

__all__ = ["MOST_CHARS", "Troubles"]

MOST_CHARS = 500
"""The longest text that is reported; the log has everything."""
_CUT = "…"


@attrs.define
class Troubles:
    """All that goes wrong in a worker now."""

    _texts: dict[str, str] = attrs.Factory(dict)
    _has_said: bool = False

    def tell(self, what: str, text: str | None) -> None:
        """Note that `what` (a callback, a task) goes wrong, and how; None: it works again."""
        if text is None:
            self._texts.pop(what, None)
        else:
            self._texts[what] = " ".join(text.split())
            self._has_said = True

    @property
    def said(self) -> str | None:
        """All of it in one line. Empty: nothing goes wrong any more; None: nothing ever has."""
        if not self._has_said:
            return None
        text = "; ".join(f"{what} {text}" for what, text in self._texts.items())
        return text if len(text) <= MOST_CHARS else text[: MOST_CHARS - len(_CUT)] + _CUT

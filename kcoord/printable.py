"""Text from clients made safe to print: control characters become escapes.

A client may choose any names for groups, members, clients and hosts. Printed unchanged, they could move a terminal's
cursor, change its colours or title, or forge a log line. Everything that kcoord writes for people passes through
`printable`: each log line (`cli/log_lines`), each table (`cli/paper`), each error (`cli/failure`). JSON does not need
it, because JSON escapes such characters itself.
"""

import re

_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: cursor, colours, titles, ends of lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # characters that change the reading direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\ud800-\udfff]"  # halves of a surrogate pair, which UTF-8 cannot encode
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """`text` with control characters as escapes (`\\x1b`, `\\n`), so that it stays on one line."""
    if text.isprintable():  # nearly all text, and much faster than the regular expression
        return text
    return _UNPRINTABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")

"""Text of others made safe to print: control characters become escapes.

Names of groups, members, clients and hosts are whatever a client says they are. Written as they are, they could move a
terminal's cursor, colour it, retitle it, or begin a log line of their own. Everything that kcoord writes for people to
read passes through `printable`: each log line (`cli/log_lines`), each table (`cli/paper`), each error (`cli/failure`).
JSON needs none of it, as it escapes such characters by itself.
"""

import re

_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: cursor, colours, titles, ends of lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of reading round
    "\u2028\u2029"  # ends of lines and paragraphs
    "\ud800-\udfff]"  # halves of a surrogate pair, which no encoding takes
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """`text` with its control characters as escapes (`\\x1b`, `\\n`), so that it stays on its line."""
    if text.isprintable():  # nearly all text, and much faster than the expression
        return text
    return _UNPRINTABLE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")

"""The regular expressions by which consumers subscribe to topics, and the topics that match them (KG-16).

RE2's syntax, as Kafka's brokers have it; the whole name must match. RE2 takes time in proportion to the name and to the
expression, and at most `MAX_MEMORY` for it. Few expressions come near that product, which can be 40 ms for one name. So
that nobody keeps the coordinator busy, an expression is refused that takes far longer than others. The library is
optional (`kcoord[regex]`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

MAX_CHARS = 4096
MAX_MEMORY = 8 << 20
"""Bytes that RE2 may use for one expression. One that needs more is refused."""
MAX_S, MAX_NAME_S = 0.5, 50e-6
"""How long an expression may take, in seconds of this thread's own time: for itself, and besides for each name."""
NO_LIBRARY = "google-re2 is not installed beside this kcoord (pip install 'kcoord[regex]')"


class PatternError(Exception):
    """The expression cannot be used; the text says why."""


def check_pattern(pattern: str) -> None:
    """Raise PatternError if the expression cannot be used."""
    _compiled(pattern)


def matching(pattern: str, names: Collection[str]) -> frozenset[str]:
    """Those of `names` that the expression matches as a whole. Raises PatternError. Takes about 2 µs for each name."""
    matches = _compiled(pattern)
    until_s = time.thread_time() + MAX_S + MAX_NAME_S * len(names)
    found = set()
    for name in names:
        if matches(name):
            found.add(name)
        if time.thread_time() > until_s:
            raise PatternError("it takes too long to match all topics")
    return frozenset(found)


def _compiled(pattern: str) -> Callable[[str], object]:
    """What tells whether a name matches. Raises PatternError."""
    if len(pattern) > MAX_CHARS:
        raise PatternError(f"a regular expression of {len(pattern)} characters is too long: {MAX_CHARS} are allowed")
    try:
        import re2
    except ImportError:
        raise PatternError(NO_LIBRARY) from None
    if _has_any_byte(pattern):
        raise PatternError(r"\C stands for a byte, which a topic's name does not have")
    options: Any = re2.Options()
    options.max_mem, options.log_errors = MAX_MEMORY, False
    try:
        compiled: Any = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"it is not valid in RE2: {text}") from None
    matches: Callable[[str], object] = compiled.fullmatch
    return matches


def _has_any_byte(pattern: str) -> bool:
    r"""Whether `\C` stands in it: a backslash that is not escaped itself, and a C."""
    escaped = False
    for each in pattern:
        if escaped and each == "C":
            return True
        escaped = each == "\\" and not escaped
    return False

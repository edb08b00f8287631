"""What did a worker complain of? The warnings and errors of its log: who reads of a failed test needs these."""

from __future__ import annotations

import re
from pathlib import Path

_COMPLAINT = re.compile(r"^\S+ \[.*?\] (?:WARN|ERROR) .*(?:\n(?!\d\d:\d\d:).*)*", re.MULTILINE)
_FRAME = re.compile(r"\n\s+(?:at |\.\.\. ).*")
USUAL = "isn't a known config"
"""What a worker says of each of its settings whenever it makes a client."""
MOST = 4000


def complaints_in(log: Path) -> str:
    """The last of them, with the exceptions that they name, without the stacks; at most MOST characters."""
    found = _COMPLAINT.findall(log.read_text(errors="replace"))
    return "\n".join(_FRAME.sub("", each) for each in found if USUAL not in each)[-MOST:]

"""The error of the pipeline: it cannot do what it was asked to do. And the line that matters of an error of Spark's."""

from __future__ import annotations

import re

INSTALL = "install what it needs, in kcoord's folder: pip install '.[spark]'"
"""What to do where a package is missing."""
_OF_JAVA = "\n: "
"""What is between a call into Java that py4j names and the error with which it ended."""


class PipelineError(Exception):
    """The pipeline cannot do what it was asked to do. The text says what was wrong, where, and what to do."""


def reason_of(error: BaseException) -> str:
    """The one line that matters of an error from Spark: an error of kcoord's own or of Python's, if there is one, or
    else Java's.
    """
    text = str(getattr(error, "_desc", None) or getattr(error, "desc", None) or error)
    java = text.partition(_OF_JAVA)[2]
    lines = [each.strip() for each in (java or text).splitlines() if each.strip()]
    python = [
        each for each in lines if re.match(r"(kcoord\.)?[A-Za-z_.]*(Error|Corrupt|Unusable|Incompatible): ", each)
    ]
    line = python[-1] if python else lines[0] if lines else type(error).__name__
    return re.sub(r"^([a-z][a-z0-9_]*\.)+(?=[A-Z]\w*: )", "", line)[:600]

"""A finding of a check, and its level."""

from __future__ import annotations

from enum import StrEnum

import attrs


class Level(StrEnum):
    """How bad it is."""

    FINE = "ok"
    NOTE = "note"
    """It works, but there is something to know."""
    PROBLEM = "problem"
    """With these settings kcoord cannot do what it is meant to do."""


@attrs.frozen
class Finding:
    """The result of checking one thing."""

    level: Level
    about: str
    text: str
    command: str = ""
    """The command with which an administrator of the cluster can fix it."""


def fine(about: str, text: str) -> Finding:
    """A finding that all is well."""
    return Finding(Level.FINE, about, text)


def note(about: str, text: str, command: str = "") -> Finding:
    """A finding that there is something to know."""
    return Finding(Level.NOTE, about, text, command)


def problem(about: str, text: str, command: str = "") -> Finding:
    """A finding that something must be changed."""
    return Finding(Level.PROBLEM, about, text, command)

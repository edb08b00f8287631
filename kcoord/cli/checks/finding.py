"""What a check has found."""

from __future__ import annotations

from enum import StrEnum

import attrs


class Level(StrEnum):
    """How bad it is."""

    FINE = "ok"
    NOTE = "note"
    """It works, and something is to be known."""
    PROBLEM = "problem"
    """As it stands kcoord cannot do what it is meant to."""


@attrs.frozen
class Finding:
    """One thing that was looked at."""

    level: Level
    about: str
    text: str
    command: str = ""
    """What an administrator of the cluster can run to change it."""


def fine(about: str, text: str) -> Finding:
    """All is well there."""
    return Finding(Level.FINE, about, text)


def note(about: str, text: str, command: str = "") -> Finding:
    """Something is to be known."""
    return Finding(Level.NOTE, about, text, command)


def problem(about: str, text: str, command: str = "") -> Finding:
    """Something is to be changed."""
    return Finding(Level.PROBLEM, about, text, command)

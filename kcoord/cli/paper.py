"""How does what is shown get onto a terminal or into a pipe?

A terminal has a width, and colours unless NO_COLOR says otherwise. A pipe has neither: lines are not to be broken
there, as the next program reads them.
"""

import io
import os
import shutil
import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

_PIPE_WIDTH = 1000

STATE_STYLES = {
    "Stable": "green",
    "Assigning": "yellow",
    "Reconciling": "yellow",
    "Waiting": "yellow",
    "Releasing": "yellow",
    "Away": "magenta",
    "PutOut": "red",
    "Empty": "dim",
    "Dead": "red",
}
"""States of groups and of members."""


def width() -> int:
    """How many columns there are."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH


def written(*shown: RenderableType) -> str:
    """What is shown, as text for stdout."""
    terminal = sys.stdout.isatty()
    out = io.StringIO()
    console = Console(
        file=out,
        width=width(),
        force_terminal=terminal,
        color_system="standard" if terminal and not os.environ.get("NO_COLOR") else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(*shown, sep="\n")
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def table_of(columns: Sequence[str], rows: Iterable[Sequence[RenderableType]]) -> Table:
    """A table without a frame."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table

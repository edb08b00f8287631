"""Output for a terminal or a pipe.

A terminal has a width, and colors unless NO_COLOR is set. A pipe has neither: lines must not be broken there, because
the next program reads them. Control characters are escaped in both (`printable`).
"""

import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from kcoord.printable import printable

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


class PrintableConsole(Console):
    """Prints nothing but text, its own colors and line ends, whatever it is given."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """See rich.console.Console."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_lines(segment.text), segment.style)


def width() -> int:
    """How many columns the output has."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH


def written(*shown: RenderableType) -> str:
    """The given things as text for stdout."""
    terminal = sys.stdout.isatty()
    out = io.StringIO()
    console = PrintableConsole(
        file=out,
        width=width(),
        force_terminal=terminal,
        color_system="standard" if terminal and not os.environ.get("NO_COLOR") else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(*map(_in_one_line, shown), sep="\n")
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def table_of(columns: Sequence[str], rows: Iterable[Sequence[RenderableType]]) -> Table:
    """A table without a frame."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(_in_one_line, row))
    return table


def _in_one_line(shown: RenderableType) -> RenderableType:
    """A text with its control characters escaped before anything is measured. Anything else is left as it is."""
    if isinstance(shown, str):
        return printable(shown)
    if isinstance(shown, Text) and (plain := printable(shown.plain)) != shown.plain:
        return Text(plain, style=shown.style)
    return shown


def _lines(text: str) -> str:
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))

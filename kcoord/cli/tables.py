"""How are groups shown to people?"""

import io
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from kcoord.cli.group_calls import Description, GroupLine

_PIPE_WIDTH = 1000
"""A pipe has no width: lines are not to be broken there, as the next program reads them."""


def of_groups(groups: "Sequence[GroupLine]") -> str:
    """A table of groups."""
    if not groups:
        return "There are no such groups.\n"
    rows = [(each.group, each.type, each.protocol_type, each.state, each.coordinator) for each in groups]
    return _table(("GROUP", "TYPE", "PROTOCOL TYPE", "STATE", "COORDINATOR"), rows)


def of_members(groups: "Iterable[Description]") -> str:
    """Each group with a table of its members."""
    texts = []
    for each in groups:
        if not each.exists:
            texts.append(f"{each.group}: {each.note}\n")
            continue
        facts = [each.state, each.protocol_type, each.protocol, f"coordinator {each.coordinator}"]
        text = f"{each.group}: {', '.join(fact for fact in facts if fact)}\n"
        if each.members:
            rows = [
                (member.member, member.instance or "-", member.client, member.host, member.assignment)
                for member in each.members
            ]
            text += _table(("MEMBER", "INSTANCE", "CLIENT", "HOST", "ASSIGNMENT"), rows)
        else:
            text += "no members\n"
        texts.append(text)
    return "\n".join(texts)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False, color_system=None).print(table)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())

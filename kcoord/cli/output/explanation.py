"""The history of a group without a barrier, told to people: how it came to be as it is.

Each epoch is a block: when and why it came, what changed hands, and how long it took until the assignment was there and
until every member owned its target. The newest epoch comes last, next to the prompt.
"""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kcoord.cli.calls.connect_groups import ConnectGroup
from kcoord.cli.calls.modern_groups import AWAY, AnyGroupView, AnyMemberView, Epoch, Move
from kcoord.cli.output.resource_texts import counted, resources_text
from kcoord.cli.output.short_names import Names
from kcoord.cli.output.terminal_output import STATE_STYLES, written
from kcoord.cli.output.times import after, ago, clock, span
from kcoord.printable import printable

_INDENT = 4
_MOST_MOVES = 20
"""How many moves of one epoch are shown, the largest ones. `--json` has all that the coordinator gives."""


def explained(group: AnyGroupView, last: int) -> str:
    """The last epochs of a group, as text."""
    names = Names.of(group)
    shown = group.history[-last:]
    blocks: list[RenderableType] = [_head(group, len(shown))]
    for epoch in shown:
        blocks += ["", *_block(epoch, group, names)]
    if pending := list(_pending(group, names)):
        blocks += ["", *pending]
    return written(*blocks)


def outcome(epoch: Epoch, group: AnyGroupView) -> str:
    """`assigned after 3 ms, in place everywhere after 1.2 s`, or why not."""
    current = epoch.epoch == group.epoch
    if epoch.installed_after_ms is None:
        if not current:
            return "never assigned: the group had changed again"
        return "nothing to assign" if not group.workers else "not assigned yet"
    assigned = f"assigned {after(epoch.installed_after_ms)}"
    if epoch.converged_after_ms is not None:
        return f"{assigned}, in place everywhere {after(epoch.converged_after_ms)}"
    return (
        f"{assigned}, {'not in place everywhere yet' if current else 'the group changed again before it was in place'}"
    )


def _head(group: AnyGroupView, shown: int) -> Text:
    count, epochs, words = len(group.workers), group.epoch - group.FIRST_EPOCH, group.WORDS
    workers = counted(count, words.member, words.members) if count else f"no {words.members}"
    told = "all that has happened" if shown >= epochs else f"its last {shown} of {epochs} epochs"
    return Text.assemble(
        (f"{printable(group.group)}: ", "bold"),
        (group.state, STATE_STYLES.get(group.state, "")),
        f" at epoch {group.epoch}, {workers}; {told if shown else 'nothing has happened yet'}",
    )


def _block(epoch: Epoch, group: AnyGroupView, names: Names) -> Iterator[RenderableType]:
    yield Text.assemble(
        (f"epoch {epoch.epoch}", "bold"),
        f"  {clock(epoch.at_ms)}  ",
        (f"({ago(epoch.at_ms)})  ", "dim"),
        (printable(names.in_reason(epoch.reason)), "bold cyan"),
    )
    if epoch.moves:
        yield Padding(_moves(epoch, group, names), (0, 0, 0, _INDENT))
    elif epoch.installed_ms is not None:
        yield " " * _INDENT + "nothing changed hands"
    yield Text(" " * _INDENT + outcome(epoch, group), style="dim")


def _moves(epoch: Epoch, group: AnyGroupView, names: Names) -> Table:
    grid = Table.grid(padding=(0, 2))
    shown = sorted(epoch.moves, key=lambda move: -len(move.resources))[:_MOST_MOVES]
    for move in sorted(shown, key=epoch.moves.index):
        grid.add_row(_moved(move, names), Text(resources_text(move.resources), overflow="fold"))
    told = sum(len(move.resources) for move in shown)
    if epoch.moved > told:
        grid.add_row("", f"and {counted(epoch.moved - told, group.WORDS.share, group.WORDS.shares)} more")
    return grid


def _moved(move: Move, names: Names) -> Text:
    if move.giver is None:
        return Text(f"to {names(move.taker)}")
    if move.taker is None:
        return Text(f"from {names(move.giver)}, to nobody")
    return Text(f"from {names(move.giver)} to {names(move.taker)}")


def _pending(group: AnyGroupView, names: Names) -> Iterator[str]:
    """Why not everything is in place yet."""
    if group.note:
        yield printable(group.note)
    if group.computing is not None:
        yield f"{names(group.computing)} computes the assignment"
    if isinstance(group, ConnectGroup):
        yield from _not_assigned(group, names)
    for worker in group.workers:
        if worker.state == AWAY:
            if kept := worker.owns | worker.waits_for:
                yield f"{resources_text(kept)} waits for the return of {worker.instance}"
            continue
        if worker.must_release:
            yield f"{names(worker.member)} must let go of {resources_text(worker.must_release)}"
        if worker.waits_for:
            yield f"{names(worker.member)} waits for {_awaited(worker, group, names)}"
    if isinstance(group, ConnectGroup):
        yield from _kept_for_departed(group, names)


def _not_assigned(group: ConnectGroup, names: Names) -> Iterator[str]:
    """What the next assignment waits for, or why it is not as it should be."""
    yield from group.repeats.told()
    if group.classic.barrier is not None:
        yield f"barrier among the workers of the classic protocol: {group.classic.barrier}"
    if group.error:
        yield f"assignment error {group.error}: {group.error_message or 'no details'}"
    yield from group.placement.told()


def _kept_for_departed(group: ConnectGroup, names: Names) -> Iterator[str]:
    """What waits for workers that have left."""
    for departed in group.departed:
        if departed.resources:
            left = "" if group.delay_ms is None else f" another {span(group.delay_ms)}"
            name = departed.instance or names(departed.member)
            yield f"{resources_text(departed.resources)} waits{left} for the return of {name}"


def _awaited(worker: AnyMemberView, group: AnyGroupView, names: Names) -> str:
    """What a worker waits for, and who has it."""
    holders = [
        f"{resources_text(held)} of {names(other.member)}"
        for other in group.workers
        if other is not worker and (held := other.owns & worker.waits_for)
    ]
    free = worker.waits_for.difference(*(other.owns for other in group.workers))
    return ", ".join([*holders, *([resources_text(free)] if free else [])])

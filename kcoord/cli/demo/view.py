"""The view of the demo: who runs what, what happened last, and what to try.

On a terminal it is a screen that is redrawn, with as much as there is room for. Elsewhere it is lines: one for each
event, and some for the state after it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import attrs
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kcoord.cli.calls.connect_groups import ConnectGroup
from kcoord.cli.calls.modern_groups import Epoch
from kcoord.cli.demo.processes import Child
from kcoord.cli.demo.scene import GROUP, Scene, Try
from kcoord.cli.demo.ticks import Ticks
from kcoord.cli.output.explanation import outcome
from kcoord.cli.output.resource_texts import resources_text
from kcoord.cli.output.short_names import Names
from kcoord.cli.output.terminal_output import STATE_STYLES, table_of
from kcoord.cli.output.times import after, ago, clock, span

_MOST_EPOCHS = 8
_ELSEWHERE = "elsewhere"
"""Where a worker runs that the demo has not started."""


@attrs.frozen
class Sight:
    """Everything to show at one moment."""

    scene: Scene
    group: ConnectGroup | None
    note: str
    """A note about the group: that it does not exist yet, or that the coordinator does not respond."""
    coordinator: Child
    workers: Sequence[Child]
    ticks: Ticks
    members: Mapping[str, Child]
    """Member id → the process of the demo that has it, or had it."""

    def tries(self) -> list[Try]:
        running = [(child.name, child.pid) for child in self.workers if child.running]
        here = {worker.instance for worker in self.group.workers} if self.group is not None else set()
        gone = [child.name for child in self.workers if not child.running and child.name not in here]
        return list(self.scene.tries(self.coordinator.pid if self.coordinator.running else None, running, gone))


# The screen


def screen(sight: Sight, console: Console) -> RenderableType:
    """As much as there is room for. The history is cut first, then the things to try."""
    tries = sight.tries()
    for epochs in range(_MOST_EPOCHS, 0, -1):
        drawn = _drawn(sight, epochs, tries, console)
        if _fits(drawn, console):
            return drawn
    while tries:
        tries.pop()
        drawn = _drawn(sight, 1, tries, console)
        if _fits(drawn, console):
            break
    return drawn


def _fits(drawn: RenderableType, console: Console) -> bool:
    return len(console.render_lines(drawn, pad=False)) <= console.size.height


def _drawn(sight: Sight, epochs: int, tries: Sequence[Try], console: Console) -> RenderableType:
    parts: list[RenderableType] = [_title(sight), ""]
    if sight.group is not None:
        parts += [_workers(sight, sight.group), ""]
        parts += [*_waiting(sight.group), _ticks(sight.ticks), ""]
        parts += [*_happened(sight.group, epochs), ""]
    if tries:
        parts += [Text("Try, in another terminal in this directory (Ctrl-C here ends it all):", style="bold")]
        parts += _tries(tries, console.size.width)
    return Group(*parts)


def _title(sight: Sight) -> Text:
    group, coordinator = sight.group, sight.coordinator
    title = Text.assemble(("kcoord demo", "bold"))
    if group is not None:
        style = STATE_STYLES.get(group.state, "")
        title.append_text(Text.assemble(f"   group {GROUP}: ", (group.state, style), f" at epoch {group.epoch}"))
    title.append(f"   coordinator {sight.scene.listen}, pid {coordinator.pid}")
    if sight.note:
        title.append(f"   {sight.note}", "red")
    return title


def _workers(sight: Sight, group: ConnectGroup) -> Table:
    rows = list(rows_of(sight, group))
    columns = [
        (name, cells)
        for name, *cells in zip(
            ("WORKER", "PID", "EPOCH", "STATE", "RUNS", "WAITS FOR", "LETS GO OF"), *rows, strict=True
        )
        if any(cells)
    ]
    styled = ([Text(cell, style=STATE_STYLES.get(cell, "")) for cell in cells] for _, cells in columns)
    return table_of([name for name, _ in columns], zip(*styled, strict=True))


def rows_of(sight: Sight, group: ConnectGroup) -> Iterator[tuple[str, ...]]:
    """One row for each worker of the group, then one for each process that has ended."""
    names = Names.of(group)
    for worker in group.workers:
        yield (
            worker.instance or names(worker.member),
            _process(sight.members.get(worker.member)),
            "-" if worker.epoch < 0 else str(worker.epoch),
            worker.state,
            resources_text(worker.owns, "nothing"),
            resources_text(worker.waits_for, ""),
            resources_text(worker.must_release, ""),
        )
    known = {worker.instance for worker in group.workers}
    for child in sight.workers:
        if child.name not in known:
            yield (child.name, _process(child), "-", "starts" if child.running else "-", "", "", "")


def _process(child: Child | None) -> str:
    if child is None:
        return _ELSEWHERE
    return str(child.pid) if child.running else f"{child.pid} ended"


def _waiting(group: ConnectGroup) -> Iterator[Text]:
    names = Names.of(group)
    for departed in group.departed:
        if departed.resources:
            left = "" if group.delay_ms is None else f" another {span(group.delay_ms)}"
            name = departed.instance or names(departed.member)
            yield Text(f"waits{left} for the return of {name}: {resources_text(departed.resources)}", style="yellow")


def _ticks(ticks: Ticks) -> Text:
    return Text(str(ticks), style="bold red" if ticks.twice else "green")


def _happened(group: ConnectGroup, count: int) -> Iterator[Text]:
    yield Text("What happened last:", style="bold")
    names = Names.of(group)
    for epoch in group.history[-count:]:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"  epoch {epoch.epoch}  {ago(epoch.at_ms):>10}  ", "dim")
        line.append(names.in_reason(epoch.reason), "cyan")
        line.append(f": {_moved(epoch)}{_came_to(epoch, group)}")
        yield line


def _came_to(epoch: Epoch, group: ConnectGroup) -> str:
    """The outcome of an epoch, in few words."""
    if epoch.converged_after_ms is not None:
        return f"in place {after(epoch.converged_after_ms)}"
    return "not in place yet" if epoch.epoch == group.epoch else "then it changed again"


def _moved(epoch: Epoch) -> str:
    return f"{epoch.moved} moved, " if epoch.moved else ""


def _tries(tries: Sequence[Try], width: int) -> Iterator[Text]:
    """The commands, beside their explanation if a line has room for that. A command that is too long is broken with
    backslashes, so that it can still be copied.
    """
    widest = max(len(each.what) for each in tries)
    longest = max(len(command) for each in tries for command in each.commands)
    beside = widest + longest + 4 <= width
    for each in tries:
        if not beside:
            yield Text(f"  {each.what}")
        for number, command in enumerate(each.commands):
            label = f"  {each.what if number == 0 else '':<{widest}}  " if beside else "    "
            for line in _broken(command, width - len(label)):
                yield Text.assemble(label, (line, "bold cyan"), no_wrap=True)


def _broken(command: str, width: int) -> list[str]:
    """A command as lines of a shell."""
    lines = textwrap.wrap(command, max(width - 2, 20), break_long_words=False, break_on_hyphens=False)
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]] if len(command) > width else [command]


# Lines


@attrs.define
class Lines:
    """Yields only new lines. `_known` is the last epoch before the demo began: only later epochs are printed."""

    _known: int
    _told_epochs: dict[int, str] = attrs.field(factory=dict, init=False)
    _told_workers: list[str] = attrs.field(factory=list, init=False)
    _told_note: str = attrs.field(default="", init=False)

    def of(self, sight: Sight) -> Iterator[str]:
        """The lines that are new."""
        if sight.note != self._told_note:
            self._told_note = sight.note
            if sight.note:
                yield sight.note
        if (group := sight.group) is not None:
            yield from self._epochs(group)
            if group.state in ("Stable", "Empty"):
                yield from self._workers(sight, group)

    def _epochs(self, group: ConnectGroup) -> Iterator[str]:
        names = Names.of(group)
        for epoch in group.history:
            said = self._told_epochs.get(epoch.epoch)
            settled = epoch.converged_ms is not None or epoch.epoch != group.epoch
            told = f"{_moved(epoch)}{outcome(epoch, group)}" if settled else ""
            if epoch.epoch <= self._known or said == told:
                continue
            self._told_epochs[epoch.epoch] = told
            why = names.in_reason(epoch.reason) if said is None else ""
            yield f"{clock(epoch.at_ms)} epoch {epoch.epoch}: {'; '.join(part for part in (why, told) if part)}"

    def _workers(self, sight: Sight, group: ConnectGroup) -> Iterator[str]:
        lines = [
            f"    {name} ({'' if process == _ELSEWHERE else 'pid '}{process}), {state}: {runs}"
            for name, process, _, state, runs, *_ in rows_of(sight, group)
        ]
        if lines != self._told_workers:
            self._told_workers = lines
            yield from lines
            yield f"    {sight.ticks}"


def introduction(sight: Sight) -> str:
    """The text above the lines."""
    lines = [
        f"kcoord demo: coordinator at {sight.scene.listen}, pid {sight.coordinator.pid}",
        *(f"  {child.name}: pid {child.pid}, log {child.log}" for child in sight.workers),
        "Try, in another terminal in this directory:",
    ]
    for each in sight.tries():
        lines += [f"  {each.what}", *(f"    {command}" for command in each.commands)]
    return "\n".join([*lines, "Ctrl-C or SIGTERM ends everything.", ""])

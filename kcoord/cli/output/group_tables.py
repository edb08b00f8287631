"""Groups and their members as tables for people."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from kcoord.assign import Resource
from kcoord.cli.calls.connect_groups import ClassicPart, ConnectGroup
from kcoord.cli.calls.consumer_groups import ConsumerGroup
from kcoord.cli.calls.modern_groups import AWAY, AnyGroupView, AnyMemberView, GroupView
from kcoord.cli.output.explanation import outcome
from kcoord.cli.output.resource_texts import resources_text
from kcoord.cli.output.short_names import Names
from kcoord.cli.output.terminal_output import STATE_STYLES, table_of, written
from kcoord.cli.output.times import ago, clock, span
from kcoord.printable import printable

if TYPE_CHECKING:
    from kcoord.cli.calls.group_calls import DescribedClassicGroup, OwnedGroup


def of_groups(groups: "Sequence[OwnedGroup]") -> str:
    """A table of groups. The owner column is left out if no server that was asked says who coordinates groups."""
    if not groups:
        return "There are no such groups.\n"
    lines = [(each.line, each.ownership.told()) for each in groups]
    rows = [(of.group, of.type, of.protocol_type, state(of.state), of.coordinator, by) for of, by in lines]
    columns = ("GROUP", "TYPE", "PROTOCOL TYPE", "STATE", "COORDINATOR", "COORDINATED BY")
    shown = len(columns) if any(each.is_told for each in groups) else len(columns) - 1
    return written(table_of(columns[:shown], [row[:shown] for row in rows]))


def of_members(groups: "Iterable[DescribedClassicGroup | ConnectGroup | ConsumerGroup]") -> str:
    """Each group with a table of its members."""
    return "\n".join(
        _of_modern_group(each) if isinstance(each, GroupView) else _of_classic_group(each) for each in groups
    )


def _of_classic_group(group: "DescribedClassicGroup") -> str:
    if not group.exists:
        return printable(f"{group.group}: {group.note}") + "\n"
    facts = [group.protocol_type, group.protocol, f"coordinator {group.coordinator}"]
    ways = group.ownership.ways()
    rows = [
        (each.member, each.instance or "-", each.client, each.host, ways.get(each.member, "-"), each.assignment)
        for each in group.members
    ]
    columns = ("MEMBER", "INSTANCE", "CLIENT", "HOST", "CONNECTS", "ASSIGNMENT")
    shown = [at for at, name in enumerate(columns) if name != "CONNECTS" or ways]
    members = table_of([columns[at] for at in shown], [[row[at] for at in shown] for row in rows])
    notes = [*([group.note] if group.note else []), *group.ownership.lines()]
    standing = [*notes, *_barrier(group.classic), *group.repeats.told()]
    return written(_head(group.group, group.state, facts), *standing, members if rows else "no members")


def _of_modern_group(group: ConnectGroup | ConsumerGroup) -> str:
    names = Names.of(group)
    members = members_table(group, names) if group.workers else "no members"
    return written(_head(group.group, group.state, _facts(group)), *_standing(group, names), members)


def _barrier(classic: ClassicPart | None) -> Iterator[str]:
    """Why its workers all join together."""
    if classic is not None and classic.barrier is not None:
        yield f"barrier: {classic.barrier}"


def _head(group: str, group_state: str, facts: Iterable[str]) -> Text:
    told = "".join(f", {printable(fact)}" for fact in facts if fact)
    return Text.assemble(f"{printable(group)}: ", state(group_state), told)


def _facts(group: AnyGroupView) -> Iterator[str]:
    yield group.KIND
    yield f"epoch {group.epoch}"
    if group.assignment_epoch != group.epoch:
        yield f"assigned up to epoch {group.assignment_epoch}"
    if group.assignor:
        yield f"assignor {group.assignor}"
    yield f"coordinator {group.coordinator}"


def _standing(group: ConnectGroup | ConsumerGroup, names: Names) -> Iterator[str]:
    """What is going on in the group, one line each."""
    if group.note:
        yield printable(group.note)
    if group.history:
        last = group.history[-1]
        when = f"{clock(last.at_ms)} ({ago(last.at_ms)})"
        yield f"epoch {last.epoch} since {when}: {names.in_reason(last.reason)}; {outcome(last, group)}"
    if group.computing is not None:
        yield f"{names(group.computing)} computes the assignment"
    if isinstance(group, ConnectGroup):
        yield from _connect_standing(group, names)
    else:
        yield from group.ownership.lines()
    for worker in group.workers:
        if worker.state == AWAY and (kept := worker.owns | worker.waits_for):
            yield f"waits for the return of {worker.instance}: {resources_text(kept)}"
    if isinstance(group, ConnectGroup):
        away = [each.waits_for for each in group.workers if each.state == AWAY]
        waiting = frozenset[Resource]().union(*away, *(each.resources for each in group.departed))
        if free := group.free - waiting:
            yield f"nobody runs: {resources_text(free)}"


def _connect_standing(group: ConnectGroup, names: Names) -> Iterator[str]:
    """What only happens in connect groups."""
    yield from group.repeats.told()
    if group.error:
        yield f"assignment error {group.error}: {group.error_message or 'no details'}"
    yield from classic_lines(group, names)
    yield from group.placement.told()
    if group.delay.ms is not None:
        yield f"what a worker had waits for its return: {group.delay.told()}"
    for departed in group.departed:
        if departed.resources:
            name = departed.instance or names(departed.member)
            yield f"waits for the return of {name}{_delay(group)}: {resources_text(departed.resources)}"
    for worker in group.workers:
        if worker.trouble:
            yield f"{names(worker.member)} says: {worker.trouble}"


def classic_lines(group: ConnectGroup, names: Names) -> Iterator[str]:
    """How its classic workers are managed, if it has any."""
    count = sum(each.is_classic for each in group.workers)
    if not count:
        return
    leader = next((names(each.member) for each in group.workers if each.leads), None)
    who = f"{count} of {len(group.workers)}" if count < len(group.workers) else "all"
    speak = f"{who} workers speak the classic protocol ({group.classic.protocol or 'nothing in common'})"
    leads = f"; {leader} leads" if leader is not None else ""
    if group.classic.barrier is None:
        yield f"{speak}, each is managed by itself{leads}"
    else:
        yield f"{speak}{leads}"
        yield f"barrier among them: {group.classic.barrier}"


def _delay(group: ConnectGroup) -> str:
    return "" if group.delay_ms is None else f" (another {span(group.delay_ms)})"


def members_table(group: ConnectGroup | ConsumerGroup, names: Names) -> RenderableType:
    """The members. A column in which no member has anything is left out."""
    workers = group.workers if isinstance(group, ConnectGroup) else ()
    consumers = group.workers if isinstance(group, ConsumerGroup) else ()
    mixed = any(each.is_classic for each in group.workers)
    columns = [
        ("MEMBER", [names(each.member) for each in group.workers]),
        ("INSTANCE", [each.instance or "" for each in group.workers]),
        ("HOST", [each.host for each in group.workers]),
        ("URL", [each.url or "" for each in workers]),
        ("RACK", [each.rack or "" for each in consumers]),
        ("PROTOCOL", [each.protocol if mixed else "" for each in group.workers]),
        ("EPOCH", [str(each.epoch) for each in group.workers]),
        ("STATE", [each.state for each in group.workers]),
        ("OWNS", [resources_text(each.owns, "nothing") for each in group.workers]),
        ("WAITS FOR", [_awaited(each) for each in group.workers]),
        ("MUST LET GO", [resources_text(each.must_release, "") for each in group.workers]),
        ("SUBSCRIBES TO", [each.subscription for each in consumers]),
    ]
    filled = [(name, cells) for name, cells in columns if any(cells)]
    rows = zip(*([_cell(name, cell) for cell in cells] for name, cells in filled), strict=True)
    return table_of([name for name, _ in filled], rows)


def _awaited(worker: AnyMemberView) -> str:
    return "" if worker.state == AWAY else resources_text(worker.waits_for, "")


def _cell(column: str, text: str) -> Text:
    return state(text) if column == "STATE" else Text(printable(text) or "-")


def state(name: str) -> Text:
    """A state in its color."""
    return Text(printable(name), style=STATE_STYLES.get(name, ""))

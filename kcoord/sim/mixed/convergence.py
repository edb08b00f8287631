"""The state at the end of a run with classic workers.

Everything that is configured runs once. Every worker has what it is to have and wants no round. All classic workers
know one leader, which knows who runs what. The group is of the kind that its members and its settings call for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kcoord.group.state.connect_settings import ClassicMode
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.protocol.embedded import EAGER, NAMES
from kcoord.resource import Resource
from kcoord.sim.basis.trace import names
from kcoord.sim.coordinator import UP, Coordinator
from kcoord.sim.fleet import GROUP, Fleet
from kcoord.sim.mixed.context import MixedContext
from kcoord.sim.mixed.process import ClassicProcess
from kcoord.sim.process import SimulatedProcess
from kcoord.sim.worker import Process
from kcoord.worker.state import Phase


def wrong(
    context: MixedContext,
    coordinator: Coordinator,
    fleet: Fleet,
    processes: Sequence[SimulatedProcess],
    nowhere: Callable[[], frozenset[Resource]],
) -> str | None:
    """What is not well yet. `nowhere` says what nobody has to run. None: all is well."""
    if coordinator.stage is not UP:
        return "the coordinator is not there"
    if fleet.is_starting():
        return "a worker is to start yet"
    running = sorted([resource for process in processes for resource in process.running])
    configured = sorted(context.configured - nowhere())
    state = coordinator.shard.state
    group, connect_group = state.groups.get(GROUP), state.connect.get(GROUP)
    if group is not None:  # a leader that has lost its memory lets deleted work run on, as in Kafka
        running = [each for each in running if each in context.configured]
    if running != configured:
        return f"{names(configured)} are to run, {names(running)} run"
    classic = [each for each in processes if isinstance(each, ClassicProcess)]
    fenced = [each for each in classic if each.fenced]
    if fenced and connect_group is not None:
        return f"{fenced[0].name} runs {names(fenced[0].fenced)}, which another worker has fenced"
    new = [each for each in processes if isinstance(each, Process)]
    spoken = None if _knows_of_fewer_protocols(connect_group, classic) else of_another_protocol(classic)
    return _group(context.mode, group, connect_group, classic, new) or spoken or wrong_in_classic_workers(classic)


def _knows_of_fewer_protocols(group: ConnectGroup | None, classic: list[ClassicProcess]) -> bool:
    """Whether some worker could speak a newer protocol than the group knows of. A classic group's record has only the
    one that all spoke, and a worker whose group was loaded and converted need not have joined since.
    """
    members = [(each, None if group is None else group.members.get(each.worker.member_id)) for each in classic]
    known = [(each.worker.setup.protocol, member.metadata.classic) for each, member in members if member is not None]
    return any(said is not None and NAMES[protocol] not in said.protocols for protocol, said in known)


def of_another_protocol(classic: list[ClassicProcess]) -> str | None:
    """A text about a worker that speaks another embedded protocol than the newest that all could speak. None: there is
    none.
    """
    common = min((process.worker.setup.protocol for process in classic), default=EAGER)
    other = next((process for process in classic if process.worker.version != common), None)
    return None if other is None else f"{other.name} speaks version {other.worker.version}, all speak {common}"


def wrong_in_classic_workers(classic: list[ClassicProcess]) -> str | None:
    """What is not well with Java's workers yet, whatever protocol they speak. None: all is well."""
    known = set()
    for process in classic:
        worker = process.worker
        if not worker.stable:
            return f"{process.name} is {worker.client.state.name}, wants a round or waits for the end of a delay"
        if worker.leads_blindly:
            return f"{process.name} leads, and does not know who runs what"
        if worker.held is not None:
            known.add((worker.held.told.leader, worker.held.told.leader_url))
    if len({url for _, url in known}) > 1:
        return f"leaders are known as {sorted(known)}"
    return None


def _group(
    mode: ClassicMode,
    classic: ClassicGroup | None,
    connect: ConnectGroup | None,
    workers: list[ClassicProcess],
    new: list[Process],
) -> str | None:
    individual = mode is ClassicMode.INDIVIDUAL and all(each.worker.setup.protocol > EAGER for each in workers)
    wants_connect = bool(new) or individual
    if classic is not None and not wants_connect:
        if classic.state is not ClassicState.STABLE:
            return f"the group is {classic.state.label}"
        return _members(set(classic.members), [*workers])
    if connect is None or not wants_connect:
        found = "not there" if classic is None and connect is None else "classic" if connect is None else "connect"
        return f"the group is {found}, {len(workers)} classic workers and {len(new)} others, mode {mode.value}"
    if connect.state is not ModernState.STABLE or connect.epoch != connect.assignment_epoch:
        return f"the group is {connect.state.label} at {connect.epoch}, assigned {connect.assignment_epoch}"
    if connect.error or connect.retry_due_ms != NEVER_MS:
        return f"assignment error {connect.error}: {connect.error_message}"
    if (differs := _members(set(connect.members), [*workers, *new])) is not None:
        return differs
    for process in (*workers, *new):
        member = connect.members[process.member_id]
        if not process.running == member.current == connect.target_of(member):
            return f"{process.name} runs {names(process.running)}, may run {names(member.current)}"
    for process in new:
        epochs = (process.member.epoch, connect.members[process.member_id].epoch)
        if process.member.phase is not Phase.MEMBER or epochs != (connect.epoch, connect.epoch):
            return f"{process.name} is {process.member.phase.name} at {epochs} of {connect.epoch}"
    return None


def _members(members: set[str], processes: Sequence[SimulatedProcess]) -> str | None:
    ids = {process.member_id for process in processes}
    return None if members == ids else f"members are {sorted(members)}, workers are {sorted(ids)}"

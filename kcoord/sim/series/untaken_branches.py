"""Excuses: the branches of the engine that no run of the simulator takes, and why.

A branch that is not listed here must be taken by some run of a long soak (`sometimes_conditions.py`). An excused branch
must not: once a run takes it, its excuse is wrong, and is removed. A rare branch may be taken and need not be: runs can
get there, but not reliably within a soak; a hand-written test does.

Patterns are those of `fnmatch`. They match the name without `branch `, of which 100 characters are kept. A reason is
one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

import attrs

_INVALID = "no worker sends a request that is not valid"
_IDENTITY = "a worker keeps its member id and its instance id while it lives, and never takes those of another worker"
_READABLE = "what classic workers and leaders send can be read, and names only what they were shown"
_CONNECT_ONLY = "all groups of the simulator are Connect's, and can be converted"
_NOT_FULL = "no group of the simulator is full"
_NEWEST = "all workers send the newest version of each request"
_LOG = "the simulator's log is of this release, and loses whole groups only"
_ABLE = "a worker's assignors and their versions stay as they are, and some worker supports all of them"
_TOPIC = "what is configured comes from one config topic, and no operator makes a group forget it"
_NEVER_ABOVE = "a leader is never shown an offset above its own"
_NO_REGEX = "consumers of the simulator subscribe to names, and nobody resolves regular expressions"
_ADMINS_OFFSETS = "nobody but members commits and fetches offsets"
_ONE_INSTANCE = "classic workers are simulated with one instance, which knows the order of connections"

EXCUSED: Mapping[str, str] = {
    "connect.request_validation.*wrong_in_*: if *": _INVALID,
    "apis.connect_group_heartbeat.connect_group_heartbeat: if wrong is not None": _INVALID,
    "apis.connect_group_install_assignment.connect_group_install_assignment: if wrong *": _INVALID,
    "apis.connect_group_prepare_assignment.connect_group_prepare_assignment: if wrong *": _INVALID,
    "apis.connect_group_install_assignment._assignment: if listed != len(resources)": _INVALID,
    "connect.install.check: if each.member_id in named": "flawed assignors give other nonsense than a member twice",
    "apis.connect_group_heartbeat._whose_place: if known is not None and known.classic *": _IDENTITY,
    "apis.connect_group_heartbeat._whose_place: if known.metadata.instance_id *": _IDENTITY,
    "apis.connect_group_heartbeat._find: if member is not None and holder is None": _IDENTITY,
    "connect.configured_set.refuse_file: if is_of_file(*": _TOPIC,
    "connect.configured_set.forget_configured: *": _TOPIC,
    "state.groups.connect_group.Configured.rank: if self.offset == NO_OFFSET": _TOPIC,
    "translation.join_group._may_come: if not can_share_configurations(*": _TOPIC,
    "connect.computing._compute_here: if group.configured is None": (
        "workers that leave computing to the coordinator say what is configured"
    ),
    "connect.computing._compute: case Nobody(name)": _ABLE,
    "connect.computing._compute: *if group.configured is not None and limits.assignor(FALLB*": _ABLE,
    "connect.selection.select: if not able": _ABLE,
    "connect.member_metadata.still_supported: if metadata.*": _ABLE,
    "connect.member_metadata.still_supported: if replaced is not None": _ABLE,
    "connect.member_metadata.still_supported: if not then*": _ABLE,
    "connect.membership.differs: if metadata.server_assignor != predecessor.server_assignor*": _ABLE,
    "modern.held_replies.hold_is_over_unwritten*": "a log that takes no writes for a while is not simulated",
    "state.connect_settings._rules: except DocumentError": _LOG,
    "connect.timers._left_of_delay_ms: if group.delay_ms == UNKNOWN_DELAY": _LOG,
    "state.records.connect_replay.settle_loaded_group: *": _LOG,
    "state.groups.modern_group.ModernGroup.state: if self.dead": ("nobody asks for the state of a group that is gone"),
    "modern.reconcile.progress: if current == target": "its callers have compared them before",
    "conversion.*: except NotConvertible": _CONNECT_ONLY,
    "conversion.classic_holdings._worker: if member.instance_id is not None": "no classic worker is a static member",
    "*protocol_type != PROTOCOL_TYPE": _CONNECT_ONLY,
    "*>= limits.m*": _NOT_FULL,
    "translation.join_group._may_come: if len(group.members) - *": _NOT_FULL,
    "translation.join_group._may_come: if call.api_version < NEEDS_ID_VERSION": _NEWEST,
    "translation.leave_group.leave_translated: else of if batched": _NEWEST,
    "translation.sync_group._check: if context.api_version >= NAMES_PROTOCOL_VERSION and None in*": _INVALID,
    "translation.heartbeat.heartbeat_translated: if order is Order.UNSURE": _ONE_INSTANCE,
    "translation.member_checks.check_newest_connection: if order is Order.UNSURE": _ONE_INSTANCE,
    "translation.leave_group._go: if newcomers.has(*": "a worker that was only given its id does not leave",
    "state.classic_workers.newcomers.Newcomers.expect: while len(known) >= MOST": "no run has that many workers",
    "state.classic_workers.newcomers.Newcomers.sweep: *": "a run is shorter than the interval of that check",
    "consumer.next_assignment.compute: for member_id in before.keys() - after.keys()": (
        "the target of a member is deleted with the member"
    ),
    "consumer.offset_checks.check_commit: if epoch < 0 and *": _ADMINS_OFFSETS,
    "consumer.offset_checks.check_fetch: if member_id is None *": _ADMINS_OFFSETS,
    "state.records.consumer_replay._resolution: *": _NO_REGEX,
    "state.records.consumer_replay.settle_loaded_group: if not group.recorded": _LOG,
    "*: except *Unreadable*": _READABLE,
    "translation.embedded_join.read: except EmbeddedError": _READABLE,
    "translation.embedded_join.read: if not states": _READABLE,
    "translation.rounds.computing_round._read: except EmbeddedError": _READABLE,
    "translation.rounds.computing_round._read: if strangers": _READABLE,
    "translation.rounds.computing_round.close_round: except NotValid": _READABLE,
    "translation.rounds.computing_round.close_round: if computed.error": _NEVER_ABOVE,
    "translation.rounds.existence_looks._read: except EmbeddedError": _READABLE,
    "translation.rounds.existence_looks._read: if strangers": _READABLE,
    "translation.rounds.existence_looks.close_look: except NotValid": _READABLE,
    "state.classic_workers.leader_picture._made_up: while name in taken": (
        "no member is called as a slice of another one would be"
    ),
    "state.classic_workers.look_verdicts.Asking.judge: if look.error": _NEVER_ABOVE,
    "translation.sync_group._take_look: except NotValid": _READABLE,
    "translation.sync_group._take_look: case Verdict.FAILED": _NEVER_ABOVE,
    "translation.sync_group._take_assignment: except NotValid": _READABLE,
    "translation.sync_group._take_assignment: if error": _NEVER_ABOVE,
}
"""Branches that no run takes, and why."""

_TWINS = "two consumers have one instance id, and the first one comes back"
_REPLACED = "a static worker whose place was taken comes back while its successor lives"
_REPEATED = "a leader that is slow to start and to stop joins by itself four times in a row, and nothing has changed"
_STORM = "ten changes of configuration within ten seconds, of which each asks the leader twice"
_STALE = "a request of a classic worker is overtaken by a later one of its own"

RARE: Mapping[str, str] = {
    "connect.computing._coordinators_own: case Nobody()": "a group is loaded that nobody in it could compute for",
    "translation.join_group._doubt_shared: for member in*": "two strangers of a new group run the same",
    "translation.delivery.join_answers.park_join: if session.joins_in_window > FREE_JOINS": _STORM,
    "translation.delivery.join_answers._waits: if session.parked_until_ms != NEVER_MS*": _STORM,
    "connect.computing.ensure_computing: if computation is None and group.classic.look is None and*": _REPEATED,
    "connect.repetition_brake.has_to_wait: if repetition.is_awaited(*": _REPEATED,
    "connect.repetition_brake.has_to_wait: if repetition.due_ms == NEVER_MS": _REPEATED,
    "apis.connect_group_heartbeat._whose_place: if group.fenced.get(*": _REPLACED,
    "apis.connect_group_heartbeat._find: if group is not None and request.member_id in*": _REPLACED,
    "apis.connect_group_heartbeat._find: if request.member_epoch == JOINING_EPOCH and owned": (
        "a worker that nobody knows joins while something it ran has not stopped"
    ),
    "connect.membership.join: if metadata.instance_id is not None and group.fenced*": _REPLACED,
    "connect.membership.succeed: *": _REPLACED,
    "apis.connect_group_heartbeat._check_epoch: if owned is not None and*": "a worker reports what the log has lost",
    "apis.connect_group_install_assignment._install: if group.computed_by == member.member_id*": (
        "an install comes twice"
    ),
    "connect.native_dialect.is_noop_heartbeat: if group is None or member is None*": (
        "a heartbeat comes while the log takes no writes"
    ),
    "connect.request_validation.check_member: if *": "a member that computes is gone when it installs",
    "conversion.barrier_reason.why_barrier: if not group.members": "a group is described just when it is empty",
    "conversion.barrier_reason._only_default: if not workers": "workers that speak `default` and others are described",
    "translation.delivery.default_barrier._has_cause: if group.classic.gathering_due_ms != *": (
        "the coordinator looks for a barrier while an empty group gathers"
    ),
    "state.classic_workers.look_verdicts.Asking.judge: if self.looks >= MOST_LOOKS": (
        "a leader is asked again and again"
    ),
    "translation.sync_group._take_look: case Verdict.VOID": "a leader lets work wait that nobody took away",
    "translation.delivery.assignment_delta.increment: if told is not None*": (
        "a worker disarms when `default` is all that is spoken"
    ),
    "apis.consumer_group_heartbeat._group: if request.member_epoch != JOINING_EPOCH or *": (
        "a consumer comes back to a group that was deleted meanwhile"
    ),
    "apis.consumer_group_heartbeat._whose_place: if not joins and holder *": _TWINS,
    "consumer.answers._goal: if any(*": "a target names a topic that its member subscribes to no longer",
    "consumer.native_dialect.refuse_all: else of if error is *": "a member is removed while its answer waits",
    "consumer.offset_checks.check_commit: if epoch > _highest_epoch(*": "a commit is ahead of what the log has kept",
    "modern.history.installed: if entry is None": "the first member of a consumer group subscribes to nothing",
    "translation.*._waits: if disarms(group, member)": "the same",
    "translation.join_group._may_come: if elect(*": "a worker comes that shares no embedded protocol",
    "translation.join_group._rejoin: if elect(*": "the same, of a member",
    "state.classic_workers.embedded_protocol.elect: if not common": "the same",
    "translation.sweep._evict: if join is not None": "a worker is evicted while its JoinGroup waits",
    "translation.sync_group.sync_translated: if predecessor is not None": _STALE,
    "translation.sync_group._is_asked: if not is_its": _STALE,
    "translation.sync_group._check: if not knows(*": _STALE,
    "translation.sync_group._check: if request.generation_id != session_of(member).generation*": _STALE,
    "translation.sync_group._check: if request.protocol_name is not None*": _STALE,
}
"""Branches that runs may take and need not, and when."""


@attrs.frozen
class Branches:
    """The verdict on the branches that a soak has taken, and on those that it has not."""

    required: frozenset[str]
    """Branches that must be taken."""
    never: frozenset[str]
    """Required branches that were not taken."""
    excused: frozenset[str]
    refuted: frozenset[str]
    """Excused branches that were taken all the same."""
    rare: frozenset[str]
    """Branches that may be taken or not."""


def judge(names: Iterable[str], taken: Iterable[str]) -> Branches:
    """Sort the branches of the engine (`branches.branch_names`) by what must have become of them in a soak."""
    known, met = frozenset(names), frozenset(taken)
    excused = frozenset(name for name in known if reason(name, EXCUSED) is not None)
    rare = frozenset(name for name in known - excused if reason(name, RARE) is not None)
    required = known - excused - rare
    return Branches(required, required - met, excused, excused & met, rare)


def reason(branch: str, table: Mapping[str, str] = EXCUSED) -> str | None:
    """What the table says of a branch. None: nothing."""
    name = branch.removeprefix("branch ")
    return next((why for pattern, why in table.items() if fnmatchcase(name, pattern)), None)

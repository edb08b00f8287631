"""Conditions: what a soak must have met sometimes, by name. A report of them says what was never met.

| area | a condition of it is met when |
| --- | --- |
| fault | a kind of fault strikes while the group is in a phase: `fault kill while assigning` |
| record | a record of this type is written, or a tombstone of it: `record Connect TargetAssignment gone` |
| answer | a request is answered with this error: `answer ConnectGroupHeartbeat FENCED_MEMBER_EPOCH` |
| state | the group is of this kind and in this state: `state classic CompletingRebalance` |
| event | the shard counts something (`kcoord.group.state.metrics`): `event rebalances session expired` |
| placement | placement rules take effect, or cannot: `placement a drained worker is empty` (`placement/judge.py`) |
| branch | a branch of the engine is taken (`branches.py`, `untaken_branches.py`); only if a report is asked for |

`sightings.py` observes what is met. Runs with and without classic workers have conditions of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcoord.group.connect.reasons import Reason
from kcoord.group.consumer.reasons import Reason as ConsumerReason
from kcoord.group.state.groups.classic_states import LABELS as CLASSIC_LABELS
from kcoord.group.state.groups.modern_states import LABELS as CONNECT_LABELS
from kcoord.sim.basis.phases import CONSUMER_PHASES, MIXED_PHASES, MOVING_PHASE, PHASES
from kcoord.sim.plans.consumer import CONSUMER_FAULTS
from kcoord.sim.plans.mixed import MIXED_FAULTS
from kcoord.sim.plans.plan import FAULTS, PLACEMENT

FREQUENT_PHASES = ("assigning", "reconciling", "stable")
"""Phases that a few thousand runs meet with every fault."""

NEVER_MIXED = ("delete",)
"""Faults that do not strike in runs with classic workers."""

RECORDS = (
    "Connect Configuration",
    "Connect ConnectorsTasksMetadata",
    "Connect CurrentMemberAssignment",
    "Connect History",
    "Connect MemberMetadata",
    "Connect Metadata",
    "Connect TargetAssignment",
    "Connect TargetAssignmentMember",
)
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "ConnectGroupHeartbeat": (
        "COMPUTE_ASSIGNMENT", "COORDINATOR_LOAD_IN_PROGRESS", "FENCED_MEMBER_EPOCH", "NOT_COORDINATOR",
        "UNKNOWN_MEMBER_ID",
    ),
    "ConnectGroupInstallAssignment": (
        "FENCED_MEMBER_EPOCH", "INVALID_ASSIGNMENT", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID",
    ),
    "ConnectGroupPrepareAssignment": ("FENCED_MEMBER_EPOCH", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID"),
}  # fmt: skip
STATIC_ANSWERS = ("FENCED_INSTANCE_ID", "UNRELEASED_INSTANCE_ID")
"""The errors that refuse static members. Mixed runs have no static members."""
MIXED_ANSWERS: Mapping[str, tuple[str, ...]] = {
    "Heartbeat": ("ILLEGAL_GENERATION", "NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"),
    "JoinGroup": (
        "COORDINATOR_LOAD_IN_PROGRESS", "INCONSISTENT_GROUP_PROTOCOL", "MEMBER_ID_REQUIRED", "NOT_COORDINATOR",
        "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID",
    ),
    "LeaveGroup": ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"),
    "SyncGroup": ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"),
}  # fmt: skip
EVENTS: Mapping[str, tuple[str, ...]] = {
    "members": ("joined", "rejoined", "replaced", "left", "expired", "put out"),
    "computations": ("client", "server"),
    "installed": ("uniform", "cooperative", "eager"),
    "errors": ("assignor failed", "no worker left"),
    "given": ("up",),
    "rejected": ("",),
    "moved": ("",),
    "converged": ("",),
}
MIXED_EVENTS: Mapping[str, tuple[str, ...]] = {
    "conversions": ("to connect", "to classic"),
}
CLASSIC_REASONS = (Reason.MIGRATED, Reason.LEADER_JOINED)
"""Reasons for a new group epoch that need classic workers."""
STATIC_REASONS = (Reason.STATIC_REPLACED,)
UNMET_CONSUMER_REASONS = (ConsumerReason.REMOVED, ConsumerReason.RACK_CHANGED)
"""Reasons that need an admin, or an assignor that reads racks: runs of consumer groups have none."""
PLACEMENTS = (
    "a drained worker is empty",
    "a rebalance leaves more to move",
    "a worker dies while it is drained",
    "all rules are taken away",
    "all workers are cordoned",
    "at rest by rules",
    "at rest with work that is placed nowhere",
    "at rest with work where no rule wants it",
    "rules that a worker which computes does not follow",
)
"""What placement rules can lead to."""
CLASSIC_PLACEMENTS = (
    "a drained leader is empty",
    "rules that workers of `default` do not follow",
    "the leader dies while rules move work",
)
"""The same for runs with classic workers."""
CONSUMER_RECORDS = (
    "ConsumerGroupMetadata",
    "ConsumerGroupTargetAssignmentMetadata",
    "ConsumerGroupTopics",
    "ConsumerGroupHistory",
    "ConsumerGroupMemberMetadata",
    "ConsumerGroupTargetAssignmentMember",
    "ConsumerGroupCurrentMemberAssignment",
    "OffsetCommit",
)
CONSUMER_ANSWERS: Mapping[str, tuple[str, ...]] = {
    "ConsumerGroupHeartbeat": (
        "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "FENCED_INSTANCE_ID", "FENCED_MEMBER_EPOCH",
        "GROUP_ID_NOT_FOUND", "GROUP_MAX_SIZE_REACHED", "INVALID_REQUEST", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID",
        "UNRELEASED_INSTANCE_ID", "UNSUPPORTED_ASSIGNOR",
    ),
    "Heartbeat": ("ILLEGAL_GENERATION", "NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"),
    "JoinGroup": (
        "COORDINATOR_LOAD_IN_PROGRESS", "FENCED_INSTANCE_ID", "MEMBER_ID_REQUIRED", "NOT_COORDINATOR",
        "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID",
    ),
    "SyncGroup": ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID"),
}  # fmt: skip
CONSUMER_EVENTS: Mapping[str, tuple[str, ...]] = {
    "members": ("joined", "replaced", "left", "expired", "away"),
    "installed": ("uniform", "range", "flawed"),
    "failed": ("flawed",),
    "moved": ("",),
    "converged": ("",),
    "held": ("",),
    "fused": ("",),
    "conversions": ("to consumer", "to classic"),
}


def required(kind: str) -> frozenset[str]:
    """What a long soak of this kind must have met. Empty if nothing is listed for a kind."""
    return _REQUIRED.get(kind, frozenset())


def common(kind: str) -> frozenset[str]:
    """What a few hundred runs of this kind must have met."""
    frequent = tuple(f" while {phase}" for phase in FREQUENT_PHASES)
    names = [name for name in required(kind) if name not in RARE]
    return frozenset(name for name in names if area_of(name) != "fault" or name.endswith(frequent))


def area_of(name: str) -> str:
    """The area: the first column of the table above."""
    return name.split(" ", 1)[0]


def _faults(kinds: Iterable[str], phases: Iterable[str]) -> set[str]:
    return {f"fault {kind} while {phase}" for kind in kinds for phase in phases}


def _answers(answers: Mapping[str, Iterable[str]]) -> set[str]:
    return {f"answer {request} {error}" for request, errors in answers.items() for error in errors}


def _events(events: Mapping[str, Iterable[str]]) -> set[str]:
    return {f"event {field} {key}".rstrip() for field, keys in events.items() for key in keys}


def _records(types: Iterable[str], *, gone: Iterable[str]) -> set[str]:
    return {f"record {each}" for each in types} | {f"record {each} gone" for each in gone}


def _reasons(reasons: Iterable[str]) -> set[str]:
    return {f"event rebalances {each}" for each in reasons}


def _placements(names: Iterable[str]) -> set[str]:
    return {f"placement {name}" for name in names}


_CONNECT_STATES = {f"state connect {label}" for label in CONNECT_LABELS if label != "Dead"}
_CLASSIC_STATES = {f"state classic {label}" for label in CLASSIC_LABELS if label != "Dead"}
_ANY = (
    _answers(ANSWERS)
    | _events(EVENTS)
    | _CONNECT_STATES
    | _records(RECORDS, gone=RECORDS[1:])
    | _placements(PLACEMENTS)
)

_CONNECT = frozenset(
    _ANY
    | _faults((*FAULTS, PLACEMENT), (*PHASES, MOVING_PHASE))
    | _answers({"ConnectGroupHeartbeat": STATIC_ANSWERS})
    | _reasons(each for each in Reason if each not in CLASSIC_REASONS)
    | _events({"members": ("away",)})
    | _records(RECORDS[:1], gone=RECORDS[:1])
)
_REQUIRED: Mapping[str, frozenset[str]] = {
    "connect": _CONNECT,
    "instances": _CONNECT,
    "mixed": frozenset(
        _ANY
        | _faults(
            [each for each in (*FAULTS, PLACEMENT, *MIXED_FAULTS) if each not in NEVER_MIXED],
            (*MIXED_PHASES, MOVING_PHASE),
        )
        | _placements(CLASSIC_PLACEMENTS)
        | _answers({"ConnectGroupHeartbeat": ("GROUP_ID_NOT_FOUND",), **MIXED_ANSWERS})
        | _reasons(each for each in Reason if each not in STATIC_REASONS)
        | _events(MIXED_EVENTS)
        | _records(["GroupMetadata"], gone=["GroupMetadata"])
        | _CLASSIC_STATES
    ),
    "consumer": frozenset(
        _faults(CONSUMER_FAULTS, CONSUMER_PHASES)
        | {f"state consumer {label}" for label in CONNECT_LABELS if label != "Dead"}
        | _reasons(each for each in ConsumerReason if each not in UNMET_CONSUMER_REASONS)
        | _answers(CONSUMER_ANSWERS)
        | _events(CONSUMER_EVENTS)
        | _records(CONSUMER_RECORDS, gone=CONSUMER_RECORDS[4:])
        | _records(["GroupMetadata"], gone=["GroupMetadata"])
        | _CLASSIC_STATES
    ),
}

RARE = frozenset(
    {
        "answer ConsumerGroupHeartbeat FENCED_INSTANCE_ID",
        "answer JoinGroup FENCED_INSTANCE_ID",
        "answer ConsumerGroupHeartbeat GROUP_ID_NOT_FOUND",
        "record OffsetCommit gone",
        "answer ConnectGroupPrepareAssignment FENCED_MEMBER_EPOCH",
        "answer ConnectGroupPrepareAssignment NOT_COORDINATOR",
        "answer ConnectGroupPrepareAssignment UNKNOWN_MEMBER_ID",
        "answer ConnectGroupInstallAssignment NOT_COORDINATOR",
        "answer Heartbeat ILLEGAL_GENERATION",
        "answer JoinGroup INCONSISTENT_GROUP_PROTOCOL",
        "answer LeaveGroup COORDINATOR_LOAD_IN_PROGRESS",
        "answer LeaveGroup NOT_COORDINATOR",
        "answer SyncGroup UNKNOWN_MEMBER_ID",
        "event rebalances static worker replaced",
        "placement a drained leader is empty",
        "placement a worker dies while it is drained",
        "placement at rest with work that is placed nowhere",
        "placement at rest with work where no rule wants it",
        "placement rules that a worker which computes does not follow",
        "placement rules that workers of `default` do not follow",
        "placement the leader dies while rules move work",
    }
)
"""What a few hundred runs need not meet."""

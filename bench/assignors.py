"""How long does it take to say who runs what? Server-side `uniform`, `cooperative`, and the messages around them; the
assignors of consumer groups.

CPU time of one call, the median of many; beside it Kafka's own uniform assignor, for as many partitions, in a JVM. The
targets that an assignor gets are made anew, as they are when a message brought them: nothing is the same object as in
the configured set.
"""

from __future__ import annotations

import gc
import itertools
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

import attrs

from bench.results import Claim, Outcome, Table
from kcoord.assign import (
    CONNECTOR,
    Assignment,
    CooperativeAssignor,
    Group,
    Member,
    Resource,
    ServerAssignor,
    UniformAssignor,
)
from kcoord.assign.built_in import POLICIES
from kcoord.assign.consumer import ConsumerAssignor, ConsumerTargets, SubscribedGroup, Subscriber
from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from kcoord.group.shard import Shard
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext
from kcoord.group.state.topic import Topic
from kcoord.protocol.generated import connect_group_install_assignment_request as install
from kcoord.protocol.generated import connect_group_prepare_assignment_response as prepare
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from kcoord.protocol.resources import pack, unpack
from tests.kafka.java import Java

ROUNDS = 21
WORKERS = 1_000
UNIFORM_TASKS, COOPERATIVE_TASKS = 50_000, 10_000
TASKS_A_CONNECTOR = 50
TOPICS = 100
INTERVAL_MS = 10_000
"""`group.consumer.assignment.interval.ms`: the group begins with one assignment, and each newcomer leads to another."""
UNIFORM_SIZE = f"{WORKERS:,} workers × {UNIFORM_TASKS:,} tasks"
COOPERATIVE_SIZE = f"{WORKERS:,} workers × {COOPERATIVE_TASKS:,} tasks"
FIRST_MS, ONE_MORE_MS, ONE_JOINS_MS, MESSAGE_MS = 150, 40, 30, 30
CONSUMER_SIZE = f"{WORKERS:,} members × {UNIFORM_TASKS:,} partitions"
FIRST_TIMES_AS_LONG, ONE_MORE_TIMES_AS_LONG = 2, 3
JAVA_SOURCE = Path(__file__).with_name("KafkaUniform.java")


@attrs.frozen
class Timing:
    """ms of CPU of one call, over and over."""

    what: str
    rounds_ms: list[float]
    moved: str = ""

    @property
    def median_ms(self) -> float:
        return median(self.rounds_ms)


def run(_folder: Path | None = None) -> Outcome:
    """Time both assignors as a group begins and as it grows, and the two messages that carry what they get and give."""
    first, one_more = uniform()
    joins = cooperative()
    policies = {name: policy(name, make()) for name, make in POLICIES.items()}
    messages = in_and_out()
    consumers = {name: consumer_groups(name, make()) for name, make in CONSUMER_ASSIGNORS.items()}
    step = consumer_step()
    theirs = kafkas()
    return Outcome(
        title="Assignors",
        how=f"CPU time of one call, the median of {ROUNDS}, {WORKERS:,} workers. Kafka's own uniform assignor of "
        f"{UNIFORM_TASKS:,} partitions runs alone in a JVM; its first call is what a coordinator pays that has not "
        "assigned for long, its later ones are compiled.",
        claims=[
            _claim(
                f"server-side `uniform`, {UNIFORM_SIZE}, first assignment",
                first,
                FIRST_MS,
            ),
            _claim(
                f"server-side `uniform`, {UNIFORM_SIZE}, one worker more",
                one_more,
                ONE_MORE_MS,
            ),
            _claim(
                f"`cooperative`, {COOPERATIVE_SIZE}, one worker joins",
                joins,
                ONE_JOINS_MS,
            ),
            *(
                _claim(f"`{name}`, {COOPERATIVE_SIZE}, one worker joins", policies[name], ONE_JOINS_MS)
                for name in POLICIES
            ),
            *(_claim(f"{each.what}, {COOPERATIVE_SIZE}", each, MESSAGE_MS) for each in messages[:2]),
            _beside("first assignment", consumers["uniform"][0], theirs[1], FIRST_TIMES_AS_LONG),
            _beside("one member more", consumers["uniform"][1], theirs[3], ONE_MORE_TIMES_AS_LONG),
        ],
        tables=[
            Table(
                ["what", "median", "least / greatest", "moved"],
                [_row(each) for each in (first, one_more, joins, *policies.values(), *messages)],
            ),
            Table(
                [f"consumer groups, {CONSUMER_SIZE}, {TOPICS} topics", "median", "least / greatest", "moved"],
                [_row(each) for each in (*itertools.chain(*consumers.values()), step, *theirs)],
            ),
        ],
        notes=[
            "The assignors of consumer groups run as plain Python here. Compiled with mypyc, `uniform` is not faster: "
            "nearly all of its time goes into sets. `range` takes about two thirds of the time."
        ],
    )


def uniform() -> list[Timing]:
    """A group that begins, and the same with one worker more."""
    assignor = UniformAssignor()
    group = empty_group(UNIFORM_TASKS)
    given = assignor.assign(group)
    return [
        _timed(f"kcoord, uniform, {UNIFORM_TASKS:,} tasks, first assignment", lambda: assignor.assign(group)),
        _joined(f"kcoord, uniform, {UNIFORM_TASKS:,} tasks, one worker more", assignor, grown(group, given)),
    ]


def cooperative() -> Timing:
    """A group with a delay that does not run; a worker joins."""
    assignor = CooperativeAssignor()
    group = empty_group(COOPERATIVE_TASKS)
    return _joined(
        f"kcoord, cooperative, {COOPERATIVE_TASKS:,} tasks, one worker joins",
        assignor,
        grown(group, assignor.assign(group)),
    )


def policy(name: str, assignor: ServerAssignor) -> Timing:
    """The same by a rebalance policy."""
    group = empty_group(COOPERATIVE_TASKS)
    return _joined(
        f"kcoord, {name}, {COOPERATIVE_TASKS:,} tasks, one worker joins", assignor, grown(group, assignor.assign(group))
    )


def empty_group(tasks: int) -> Group:
    """Workers that have nothing yet, and connectors of many tasks."""
    connectors = [f"connector-{at}" for at in range(tasks // TASKS_A_CONNECTOR)]
    configured = frozenset(Resource(each, task) for each in connectors for task in range(CONNECTOR, TASKS_A_CONNECTOR))
    return Group(
        members=tuple([Member(f"worker-{at:04}", url=f"http://worker-{at:04}:8083/") for at in range(WORKERS)]),
        configured=configured,
        rebalance_delay_ms=300_000,
    )


def grown(group: Group, given: Assignment) -> Group:
    """The group when that is its target, and one worker more is there."""
    members = [Member(each.member_id, target=_anew(each.resources)) for each in given.members]
    return attrs.evolve(group, members=(*members, Member("worker-new")))


def _anew(target: frozenset[tuple[str, int]]) -> frozenset[Resource]:
    return frozenset(Resource(connector.encode().decode(), task) for connector, task in target)


def _joined(what: str, assignor: ServerAssignor, group: Group) -> Timing:
    assignment = assignor.assign(group)
    given = {each.member_id: each.resources for each in assignment.members}
    moved = sum(len(each.target - given[each.member_id]) for each in group.members)
    sizes = Counter(len(each) for each in given.values())
    even = max(sizes) - min(sizes) <= 2
    assert even or assignment.scheduled_delay_ms, "connectors and tasks, one more of each at most, unless rounds follow"
    return attrs.evolve(_timed(what, lambda: assignor.assign(group)), moved=f"{moved:,}")


def in_and_out() -> list[Timing]:
    """What the coordinator and the chosen worker do around the assignor, for as many tasks as in `cooperative`."""
    assignor = CooperativeAssignor()
    empty = empty_group(COOPERATIVE_TASKS)
    group = grown(empty, assignor.assign(empty))
    given = assignor.assign(group)
    asked, told = prepare_response(group), install_request(given)
    asked_bytes, told_bytes = asked.encode(0), told.encode(0)
    return [
        _timed(
            "PrepareAssignment response, encoded and decoded",
            lambda: prepare.ConnectGroupPrepareAssignmentResponse.decode(asked.encode(0), 0),
        ),
        _timed(
            "InstallAssignment request, encoded and decoded",
            lambda: install.ConnectGroupInstallAssignmentRequest.decode(told.encode(0), 0),
        ),
        _timed(f"PrepareAssignment response, made, {len(asked_bytes):,} bytes", lambda: prepare_response(group)),
        _timed("PrepareAssignment response, its resources read", lambda: [_unpack(each) for each in asked.members]),
        _timed(f"InstallAssignment request, made, {len(told_bytes):,} bytes", lambda: install_request(given)),
        _timed("InstallAssignment request, its resources read", lambda: [_unpack(each) for each in told.members]),
    ]


def _unpack(member: prepare.Member | install.Member) -> frozenset[Resource]:
    return unpack(member.connectors_and_tasks)


def prepare_response(group: Group) -> prepare.ConnectGroupPrepareAssignmentResponse:
    """The group as it goes to the worker that computes."""
    types = prepare.ConnectorsAndTasks, prepare.ConnectorTaskId
    members = [
        prepare.Member(each.member_id, 7, None, prepare.Assignor(), pack(each.target, *types), each.url)
        for each in group.members
    ]
    return prepare.ConnectGroupPrepareAssignmentResponse(
        group_epoch=7,
        assignor_name="cooperative",
        members=members,
        config_offset=1,
        configured_connectors_and_tasks=pack(group.configured or (), *types),
        rebalance_delay_ms=group.rebalance_delay_ms,
    )


def install_request(given: Assignment) -> install.ConnectGroupInstallAssignmentRequest:
    """The assignment as it comes back."""
    types = install.ConnectorsAndTasks, install.ConnectorTaskId
    members = [install.Member(each.member_id, pack(each.resources, *types)) for each in given.members]
    return install.ConnectGroupInstallAssignmentRequest("connect-cluster", "worker-0000", 7, 7, 0, members)


def consumer_groups(name: str, assignor: ConsumerAssignor) -> list[Timing]:
    """A consumer group that begins, and the same with one member more; all subscribe to the same topics."""
    topics = {number.to_bytes(16, "big"): UNIFORM_TASKS // TOPICS for number in range(TOPICS)}
    subscription = frozenset(topics)
    members = [Subscriber(f"member-{at}", subscribed_topics=subscription) for at in range(WORKERS)]
    empty = SubscribedGroup(tuple(members), topics)
    targets = assignor.assign(empty)
    newcomer = Subscriber("member-new", subscribed_topics=subscription)
    more = SubscribedGroup((*[attrs.evolve(each, target=_target(targets, each)) for each in members], newcomer), topics)
    given = assignor.assign(more)
    moved = sum(
        len(partitions - given[each.member_id].get(topic, frozenset()))
        for each in more.members
        for topic, partitions in each.target.items()
    )
    return [
        _timed(f"kcoord, {name}, first assignment", lambda: assignor.assign(empty)),
        attrs.evolve(
            _timed(f"kcoord, {name}, one member more", lambda: assignor.assign(more)),
            moved=f"{moved:,}",
        ),
    ]


def _target(targets: ConsumerTargets, member: Subscriber) -> dict[bytes, frozenset[int]]:
    return {bytes(bytearray(topic)): frozenset(list(each)) for topic, each in targets[member.member_id].items()}


def consumer_step() -> Timing:
    """All that the coordinator does in its step when an assignment of such a group has waited, and one member more is
    there; its records are made, and not written.
    """
    settings = ConsumerSettings(
        heartbeat_wait_ms=0, assignment_interval_ms=INTERVAL_MS, session_timeout_ms=ROUNDS * 10 * INTERVAL_MS
    )
    shard = Shard(GroupSettings(consumer=settings), lambda: "unused")
    names = [f"topic-{number}" for number in range(TOPICS)]
    shard.state.topics = {
        name: Topic(name, number.to_bytes(16, "big"), UNIFORM_TASKS // TOPICS) for number, name in enumerate(names)
    }
    shard.loaded(0, 1)
    for number in range(WORKERS):
        _join(shard, number, names, 0)
    shard.advance(INTERVAL_MS, INTERVAL_MS).checked()
    rounds_ms = []
    for number in range(WORKERS, WORKERS + ROUNDS):
        now_ms = (number - WORKERS + 1) * INTERVAL_MS
        _join(shard, number, names, now_ms)
        gc.collect()
        start = time.process_time()
        step = shard.advance(now_ms + INTERVAL_MS, now_ms + INTERVAL_MS).checked()
        rounds_ms.append((time.process_time() - start) * 1e3)
        assert step.computed, "the assignment has waited"
    return Timing("kcoord, uniform, one member more, the whole step", rounds_ms)


def _join(shard: Shard, number: int, names: list[str], now_ms: int) -> None:
    request = ConsumerGroupHeartbeatRequest(
        "group", f"member-{number}", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=names, topic_partitions=[]
    )
    context = RequestContext(1, "bench", "/127.0.0.1", number, now_ms)
    shard.handle(request, context, object(), now_ms).checked()


def kafkas() -> list[Timing]:
    """Kafka's own assignor, in a JVM that does nothing else."""
    java = Java.find()
    arguments = [str(each) for each in (WORKERS, TOPICS, UNIFORM_TASKS // TOPICS, 2 * ROUNDS)]
    line = [java.command, "-cp", java.classpath, str(JAVA_SOURCE), *arguments]
    said = subprocess.run(line, capture_output=True, check=True, text=True).stdout
    timings = []
    for told, what in zip(said.splitlines(), ("first assignment", "one member more"), strict=True):
        rounds_ms = [int(ns) / 1e6 for ns in told.split()[1:]]
        name = f"Kafka, uniform, {what}"
        timings += [Timing(f"{name}, first call", rounds_ms[:1]), Timing(f"{name}, compiled", rounds_ms[ROUNDS:])]
    return timings


def _timed(what: str, call: Callable[[], object]) -> Timing:
    rounds_ms = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        call()
        rounds_ms.append((time.process_time() - start) * 1e3)
    return Timing(what, rounds_ms)


def _claim(what: str, timing: Timing, limit_ms: float) -> Claim:
    return Claim(what, f"< {limit_ms} ms", f"{timing.median_ms:.1f} ms", timing.median_ms < limit_ms)


def _beside(what: str, timing: Timing, kafkas: Timing, times: int) -> Claim:
    ratio = timing.median_ms / kafkas.median_ms
    return Claim(
        f"consumer groups: `uniform`, {CONSUMER_SIZE}, {what}, beside Kafka's class when it is warm",
        f"≤ {times} × as long",
        f"{ratio:.2f} × ({timing.median_ms:.1f} ms)",
        ratio <= times,
    )


def _row(timing: Timing) -> list[str]:
    least, greatest = min(timing.rounds_ms), max(timing.rounds_ms)
    spread = f"{least:.1f} / {greatest:.1f} ms" if len(timing.rounds_ms) > 1 else ""
    return [timing.what, f"{timing.median_ms:.1f} ms", spread, timing.moved]

"""The judges of a run with consumer groups, and the check that nobody reads what another consumer may have.

| invariant | where |
| --- | --- |
| one owner: what a member reads is in its current, which is nobody else's (KG-8) | here |
| one owner: no two members read one partition, also in a classic group and while a group is converted (KG-23) | here |
| commit: no answer leaves before everything is committed that it could have seen | here |
| what members are told, and when | `answers.py` |
| commits and committed offsets | `offsets.py` |
| who is removed | `departures.py` |
| what leaders of classic groups are shown | `classic_leaders.py` |
| what groups know of topics | `topics.py` |
| the coordinator's books | `invariants.py` |
| the end | `convergence.py` |

A consumer that was removed without a farewell may go on reading: it does not know. What it reads is not judged until it
has joined again; its commits are.
"""

from __future__ import annotations

from kcoord.group.state.groups.consumer_group import ConsumerGroup, Partition, Partitions
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, HeartbeatRequest
from kcoord.sim.basis.phases import COMMITTING_PHASE, CONNECT_PHASES, DOWN_PHASE, JOINING_PHASE, LOADING_PHASE
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer import convergence
from kcoord.sim.consumer.answers import AnswersJudge
from kcoord.sim.consumer.any_consumer import AnyConsumer
from kcoord.sim.consumer.classic.process import ClassicConsumerProcess
from kcoord.sim.consumer.classic_leaders import LeadersJudge
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.departures import DeparturesJudge
from kcoord.sim.consumer.fleet import ConsumerFleet
from kcoord.sim.consumer.invariants import GroupHistory, Pace
from kcoord.sim.consumer.offsets import OffsetsJudge
from kcoord.sim.consumer.topics import TopicsJudge
from kcoord.sim.coordinator import DOWN, UP, Coordinator
from kcoord.sim.judging.convergence import unanswered
from kcoord.sim.network import Frame
from kcoord.sim.process import SimulatedProcess

REPLAY_EVERY = 400
"""How many steps lie between two comparisons of the log with what is running."""


class ConsumerChecks:
    """The judge of one run."""

    def __init__(self, context: ConsumerContext, coordinator: Coordinator, fleet: ConsumerFleet) -> None:
        self._context = context
        self._coordinator = coordinator
        self._fleet = fleet
        coordinator.judge = fleet.judge = self
        self.loads = 0
        self._answers = AnswersJudge(context, coordinator)
        self._offsets = OffsetsJudge(self._reader_of, context.has)
        self._departures = DeparturesJudge(context, coordinator)
        self._topics = TopicsJudge(context)
        self._leaders = LeadersJudge()
        self._processes: list[AnyConsumer] = []
        self._state: ShardState
        """The contents of the shard that was loaded last."""
        self._history: dict[str, GroupHistory] = {}
        self._versions: dict[str, int] = {}
        self._was_classic = set[str]()
        """The groups that spoke the classic protocol before the request that is handled."""
        self._next_replay = REPLAY_EVERY
        self._compacted = bool(context.seed % 2)
        self._pace = Pace.of(coordinator.settings.consumer, context.consumers.assignment_takes_ms)

    # -- consumers ----------------------------------------------------------------------------------------------------

    def born(self, process: SimulatedProcess) -> None:
        """A process begins."""
        assert isinstance(process, AnyConsumer)
        self._processes.append(process)

    def died(self, process: SimulatedProcess) -> None:
        """A process has ended."""
        assert isinstance(process, AnyConsumer)
        self._processes.remove(process)

    def heard(self, process: SimulatedProcess) -> None:
        """An answer was processed."""
        self.judge(process)

    def judge(self, process: SimulatedProcess) -> None:
        """What a member reads is in its current. One that is no member any more is not judged until it knows."""
        assert isinstance(process, AnyConsumer)
        reads = process.reads
        if not reads or not process.counts or self._coordinator.stage is not UP:
            return
        group = self._state.consumer.get(process.group_id)
        member = None if group is None else group.members.get(process.member_id)
        if member is None and not self._is_in_classic_group(process):
            process.excused = True
        elif member is not None and not (self._existing(reads) if member.is_classic else reads) <= member.current:
            others = {each: group.owners.get(each) for each in reads - member.current} if group is not None else {}
            raise Violation("one owner", f"{process.member_id} reads what it has not: {others}")
        elif self._context.consumers.classic:
            self._reads_alone(process)

    def _existing(self, partitions: Partitions) -> Partitions:
        """Those of topics that exist. A classic consumer may say late that it has let go of what is gone."""
        existing = {topic.id for topic in self._context.topics.values()}
        return frozenset(each for each in partitions if each[0] in existing)

    def _is_in_classic_group(self, process: AnyConsumer) -> bool:
        """Whether it is a member of a classic group. A static one that takes longer than its rebalance timeout to join
        is not removed from it: the others go on without its word, and what it reads is not judged.
        """
        group = self._state.groups.get(process.group_id)
        member = None if group is None else group.members.get(process.member_id)
        if group is None or member is None:
            return False
        return member.instance_id is None or process.epoch >= group.generation

    def _is_member(self, process: AnyConsumer) -> bool:
        """Whether what it reads is its own, as far as the coordinator knows."""
        group = self._state.consumer.get(process.group_id)
        is_in = process.member_id in group.members if group is not None else self._is_in_classic_group(process)
        return is_in and process.counts

    def _reads_alone(self, process: AnyConsumer) -> None:
        for other in self._processes:
            if other is not process and other.group_id == process.group_id and self._is_member(other):
                both = other.reads & process.reads
                if both:
                    raise Violation("one owner", f"{process.member_id} and {other.member_id} read {sorted(both)}")

    def _reader_of(self, group_id: str, partition: Partition) -> AnyConsumer | None:
        """The member that reads a partition."""
        readers = (each for each in self._processes if each.group_id == group_id and partition in each.reads)
        return next((each for each in readers if self._is_member(each)), None)

    # -- the coordinator ----------------------------------------------------------------------------------------------

    def loaded(self) -> None:
        """The log has been replayed: from here on, epochs are those that are committed."""
        self.loads += 1
        self._state = self._coordinator.shard.state
        self._history.clear()
        self._versions.clear()
        self._answers.loaded()
        self._offsets.loaded(self._state)
        self._departures.loaded()
        self._topics.loaded()
        self._leaders.loaded(self._state)

    def before(self, frame: Frame) -> None:
        """A request is about to be handled."""
        self._answers.before(self._state, frame)
        self._was_classic = {group_id for group_id, group in self._state.groups.items() if group.members}

    def timed(self, step: Step) -> None:
        """Time has made the coordinator look at its groups."""

    def after(self, step: Step, frame: Frame | None) -> None:
        """A step was taken."""
        state, now_ms = self._state, self._context.events.now_ms
        self._departures.after(state, step, frame)
        for group_id in self._history.keys() - state.consumer.keys():
            del self._history[group_id]
            self._topics.forget(group_id)
            self._departures.forget(group_id)
        for group_id, group in state.consumer.items():
            if frame is None:
                self._departures.look(group)
            if not step.records and not step.faults and self._versions.get(group_id) == group.version:
                continue
            self._versions[group_id] = group.version
            self._context.sightings.reached(("state", "consumer", group.state.label))
            history = self._history.get(group_id)
            if history is None:  # only a request makes a group; all others were loaded
                history = self._history[group_id] = self._begun(group, frame)
            history.look(group, now_ms, is_timed=group_id not in state.quarantine)
            self._topics.look(group)
            self._departures.look(group)
        for classic in state.groups.values():
            self._context.sightings.reached(("state", "classic", classic.state.label))
        self._offsets.after(state, step, frame)
        self._answers.after(state, step, frame)
        self._leaders.after(step)
        if step.records or step.faults:
            for process in self._processes:
                self.judge(process)
        if self._context.steps >= self._next_replay:
            self._next_replay = self._context.steps + REPLAY_EVERY
            self._replay()

    def _begun(self, group: ConsumerGroup, frame: Frame | None) -> GroupHistory:
        """A group that is seen first: a request has made it, of nothing or of a classic group, or it was loaded."""
        is_new = frame is not None and group.group_id not in self._was_classic
        return GroupHistory(None if is_new else group, self._pace)

    def leaves(self, frame: Frame) -> None:
        """An answer leaves."""
        if frame.seen > self._coordinator.committed:
            raise Violation("commit", "an answer leaves before what it could have seen is committed")
        self._offsets.leaves(frame)

    def hot(self, frame: Frame, response: Response) -> None:
        """The hot path does not know consumer groups."""
        raise Violation("cache", "a heartbeat of a consumer was answered by the hot path")

    def flush_held_reply(self, frame: Frame) -> None:
        """Another request has come on its connection, so its answer waits no more. That of a JoinGroup does."""
        if frame.seen < 0 and isinstance(frame.request, ConsumerGroupHeartbeatRequest | HeartbeatRequest):
            raise Violation("held", f"{frame.link.client.name} has sent another request, its answer is kept back")

    def phases(self) -> list[str]:
        """What is going on with the groups, in the words of `phases.py`."""
        coordinator = self._coordinator
        if coordinator.stage is not UP:
            return [DOWN_PHASE if coordinator.stage is DOWN else LOADING_PHASE]
        found = [COMMITTING_PHASE] if coordinator.pending else []
        if any(process.is_joining for process in self._processes):
            found.append(JOINING_PHASE)
        return [*found, *sorted({CONNECT_PHASES[group.state] for group in self._state.consumer.values()})]

    # -- at the end ---------------------------------------------------------------------------------------------------

    def healed(self) -> None:
        """From now on nothing goes wrong any more."""

    def epoch(self) -> int:
        """Moves with each group epoch, assignment that is told, and JoinGroup: at rest it stays."""
        joins = sum(each.client.joins for each in self._processes if isinstance(each, ClassicConsumerProcess))
        return joins + self._answers.assignments + sum(group.epoch for group in self._state.consumer.values())

    def wrong(self) -> str | None:
        """What is not well yet. None: all is well."""
        if self._coordinator.stage is not UP:
            return "the coordinator is not there"
        most = self._context.consumers.max_size
        for group_id in sorted({place.group_id for place in self._fleet.places}):
            group = self._state.consumer.get(group_id)
            places = [place for place in self._fleet.places if place.group_id == group_id and place.wanted]
            consumers = [each for each in self._processes if each.group_id == group_id]
            if len(places) > most and group is not None:  # those that find no room come again and again
                consumers = [each for each in consumers if not each.is_joining or each.member_id in group.members]
                if len(consumers) != most:
                    return f"{group_id} has room"
            elif any(place.process is None for place in places):
                return "a consumer is to start yet"
            classic = self._state.groups.get(group_id)
            found = (
                convergence.wrong_in_classic(self._context, classic, consumers)
                if classic is not None and classic.members
                else convergence.wrong_in(self._context, group, consumers)
            )
            if found is not None:
                return found
        return None

    def at_end(self) -> None:
        """The checks at the end of the run."""
        self._replay()
        unanswered(self._context)

    def _replay(self) -> None:
        """Compare the log with what is running: as it is and compacted, in turn."""
        self._compacted = not self._compacted
        convergence.replays(self._coordinator, compacted=self._compacted)

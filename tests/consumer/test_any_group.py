"""Whatever happens between consumers and their coordinator: nobody has what another one has, and all comes to rest.

The memberships are those of `kcoord.consumer`, the coordinator is kcoord's own, both without I/O. Requests, answers,
callbacks and time come in a random order; connections break with requests and answers under way; the coordinator is
restarted; consumers come, leave, come back as static members, and are killed; topics grow. (KG-3, KG-4, KG-8, KG-11)
"""

from __future__ import annotations

from collections import deque
from itertools import count
from random import Random

import attrs
import pytest

from kcoord.consumer.actions import Action, Gone, Grant, Lose, Partition, Revoke, Seek, Send
from kcoord.consumer.membership import Membership
from kcoord.consumer.setup import Setup
from kcoord.consumer.state import Phase
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from tests.group.consumer.world import GROUP, World, topic_id, topics
from tests.light import fewer

SEEDS, EVENTS = fewer(40, 10), 250
MOST_CONSUMERS = 4
LONGEST_MS = 250
"""The longest time that passes at once: all events together take less than a session."""


@attrs.define(eq=False)
class Process:
    """One consumer: its membership, its requests and answers on their way, and the calls that it is to make."""

    membership: Membership
    connection: int | None = None
    outbox: deque[Send] = attrs.Factory(deque)
    awaited: deque[tuple[int, object]] = attrs.Factory(deque)
    """Numbers of requests that the coordinator has, and its tokens for them."""
    calls: deque[Grant | Revoke | Lose] = attrs.Factory(deque)
    has: set[Partition] = attrs.Factory(set)
    """What it reads, or may still have in work."""
    seeks: bool = False
    gone: Gone | None = None
    killed: bool = False

    @property
    def lives(self) -> bool:
        return self.gone is None and not self.killed


class Story:
    """One random history."""

    def __init__(self, seed: int, *, holds: bool) -> None:
        self.random = Random(seed)
        self.world = World(ConsumerSettings() if holds else None, topics(A=4, B=1))
        self.sizes = {"A": 4, "B": 1}
        self.processes: list[Process] = []
        self._connections, self._names = count(1), count(1)

    # Who there is

    def living(self) -> list[Process]:
        return [each for each in self.processes if each.lives]

    def come(self, instance: str | None = None) -> None:
        setup = Setup(GROUP, f"c{next(self._names)}", topics=("A", "B"), instance_id=instance)
        process = Process(Membership(setup, self.random.random))
        self.processes.append(process)
        self.do(process, process.membership.start(self.now))
        self.do(process, process.membership.application_polled(self.now, waits=True))

    @property
    def now(self) -> int:
        return self.world.now_ms

    # What a process does

    def do(self, process: Process, wanted: list[Action]) -> None:
        for action in wanted:
            match action:
                case Seek():
                    self.cut(process)
                    process.seeks = True
                case Send():
                    process.outbox.append(action)
                case Lose():
                    process.has.clear()
                    process.calls.clear()
                    process.calls.append(action)
                case Grant() | Revoke():
                    process.calls.append(action)
                case Gone():
                    assert action.error_code == 0, action
                    assert not process.has
                    process.gone = action
        self.check()

    def check(self) -> None:
        """Nobody has what another one has, and each has what its membership says that it owns."""
        seen: dict[Partition, str] = {}
        for process in self.living():
            for each in process.has:
                assert each not in seen, f"{each} is had by {seen[each]} and {process.membership.setup.member_id}"
                seen[each] = process.membership.setup.member_id
            assert process.has <= process.membership.owned

    @staticmethod
    def cut(process: Process) -> None:
        process.connection = None
        process.outbox.clear()
        process.awaited.clear()

    # Events

    def transmit(self, process: Process) -> bool:
        """The coordinator gets a request."""
        if not process.outbox or process.connection is None:
            return False
        send = process.outbox.popleft()
        request = send.request
        assert isinstance(request, ConsumerGroupHeartbeatRequest)
        told = ConsumerGroupHeartbeatRequest.decode(request.encode(1), 1)
        process.awaited.append((send.number, self.world.send(told, connection=process.connection)))
        return True

    def receive(self, process: Process) -> bool:
        """A process gets an answer; they come in order."""
        if not process.awaited or (token := process.awaited[0][1]) not in self.world.answers:
            return False
        number, _ = process.awaited.popleft()
        response = self.world.answers[token]
        assert isinstance(response, ConsumerGroupHeartbeatResponse)
        self.do(process, process.membership.answered(self.now, number, response))
        return True

    def call(self, process: Process) -> bool:
        """A process begins with what it was granted, or its callback returns."""
        if not process.calls:
            return False
        match process.calls.popleft():
            case Grant(partitions):
                process.has |= partitions & process.membership.assigned
            case Revoke(number, partitions):
                process.has -= partitions
                self.do(process, process.membership.released(self.now, number))
            case Lose(number):
                self.do(process, process.membership.lost(self.now, number))
        self.check()
        return True

    def connect(self, process: Process) -> bool:
        if not process.seeks:
            return False
        process.seeks, process.connection = False, next(self._connections)
        self.do(process, process.membership.connected(self.now))
        return True

    def disconnect(self, process: Process) -> None:
        if process.connection is not None:
            self.cut(process)
            self.do(process, process.membership.disconnected(self.now))

    def pass_ms(self, ms: int) -> None:
        end = self.now + ms
        while self.now < end:
            wakes = [wake for each in self.living() if (wake := each.membership.wake_at()) is not None]
            self.world.pass_ms(max(min([end, *wakes]) - self.now, 1))
            for process in self.living():
                self.do(process, process.membership.poll(self.now))

    def restart(self) -> None:
        """The coordinator is restarted: who waits for an answer gets none."""
        self.world.restart()
        for process in self.living():
            self.disconnect(process)

    def leave(self, process: Process) -> None:
        self.do(process, process.membership.leave(self.now))

    def come_back(self) -> None:
        """The next process of a static member that is away."""
        there = {each.membership.setup.instance_id for each in self.living()}
        known = {each.membership.setup.instance_id for each in self.processes}
        if self.random.random() < 0.5 and (away := sorted(known - there - {None}, key=str)):
            self.come(self.random.choice(away))
        else:
            self.come(None if self.random.random() < 0.5 else f"i{len(known)}")

    def happen(self) -> None:
        """Something happens."""
        living = self.living()
        kind = self.random.random()
        if kind < 0.04 and len(living) < MOST_CONSUMERS:
            self.come_back()
        elif kind < 0.05:
            self.restart()
        elif kind < 0.06 and self.sizes["A"] < 8:
            self.sizes["A"] += 1
            self.world.learn(topics(**self.sizes))
        elif kind < 0.12:
            self.pass_ms(self.random.randrange(LONGEST_MS))
        elif living:
            process = self.random.choice(living)
            if kind < 0.14:
                self.disconnect(process)
            elif kind < 0.15:
                self.leave(process)
            elif kind < 0.155 and process.membership.setup.instance_id is None:
                process.killed = True
            else:
                step = self.random.choice([self.transmit, self.receive, self.receive, self.call, self.connect])
                step(process)

    def settle(self) -> None:
        """Nothing more happens, but for what everybody does by itself."""
        for _ in range(600):
            busy = True
            while busy:
                busy = False
                for process in self.living():
                    for step in (self.connect, self.transmit, self.receive, self.call):
                        busy |= step(process)
            self.pass_ms(200)


@pytest.mark.parametrize("holds", [False, True], ids=["answered", "held"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nobody_has_what_another_one_has_and_all_is_shared_in_the_end(seed: int, holds: bool) -> None:
    story = Story(seed, holds=holds)
    story.come()
    for _ in range(EVENTS):
        story.happen()
    if not story.living():
        story.come()
    story.settle()
    living = story.living()
    everything = {(topic_id(name), number) for name, size in story.sizes.items() for number in range(size)}
    assert set[Partition]().union(*(each.has for each in living)) == everything
    for each in living:
        assert each.membership.phase in (Phase.MEMBER, Phase.GONE)
        assert each.has == each.membership.owned == each.membership._state.said
    sizes = sorted(len(each.has) for each in living)
    assert sizes[-1] - sizes[0] <= 1, sizes

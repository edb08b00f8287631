"""Several instances around one shard: a request goes to the instance at which its connection ends, from there to the
owner, and the response goes the same way back.

- An instance has one request of a connection in work. The next one waits, or ends the hold of the response before it.
- It waits for the owner no longer than the call may take. Then the client is told NOT_COORDINATOR, and the line to the
  owner is made again. What was sent on the former line is in the owner's socket, and is not read once the new line was
  read.
- An instance that stands still reads nothing, and nobody reads from it. When it goes on, it reads what waits in its
  sockets: each socket in its order, the sockets in any order. Connections can still be made, and are accepted then.
- The shard moves: its owner dies, stands still for too long, or gives it away. The next owner loads the log.
  Connections live on, and what was waiting in the former owner is relayed to the next one.
- Each instance has a clock of its own, and a time of day that may be a day off.

There is one shard at a time. Leases make sure that a former owner does not respond any more (CG-27); that is not
simulated here.
"""

from __future__ import annotations

from functools import partial

import attrs

from kcoord.group.error_responses import refuse
from kcoord.group.state.connection_opening import Opening
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.message_base import Response
from kcoord.sim.coordinator import DOWN, UP, Coordinator
from kcoord.sim.instances.context import InstancesContext
from kcoord.sim.instances.instance import FrontLink, Instance, Line, Unread
from kcoord.sim.network import Frame, Link

LEASE_MS = 5_000
RELAY_MS = 5_000
"""How long a relayed call may take beyond the wait that its group allows."""
MISSED_MS = 6_000
"""An instance that stands still or is dead for this long loses the shard."""


class SharedCoordinator(Coordinator):
    """The instances, and the shard of the one that owns the partition."""

    def __init__(self, context: InstancesContext, settings: GroupSettings, number: int) -> None:
        self._choices = context.choices
        self._fronts = context.network
        self.instances = self._fronts.instances = [Instance(at, self._choices) for at in range(number)]
        self.owner = self.instances[0]
        super().__init__(context, settings)
        self._fronts.made = self._made

    # -- the owner ----------------------------------------------------------------------------------------------------

    @property
    def frozen_until_ms(self) -> int:
        """Until when the owner stands still."""
        return self.owner.frozen_until_ms

    @frozen_until_ms.setter
    def frozen_until_ms(self, until_ms: int) -> None:
        self.owner.frozen_until_ms = until_ms

    @property
    def wall_ms(self) -> int:
        """The owner's time of day."""
        return super().wall_ms + self.owner.wall_ms

    def _loaded(self, life: int) -> None:
        if life != self._life:
            return
        now_ms = self._events.now_ms
        if self.owner.stands_still(now_ms):
            self._events.at(self.owner.frozen_until_ms, self._loaded, life)
            return
        self.shard = self.replayed(compacted=self._random.random() < 0.5, predecessor=self.owner.shard)
        self.owner.shard = self.shard
        self.appended = self.committed
        self._commit_ms = 0
        self._timer_ms = None
        self.stage = UP
        self.woken_ms = now_ms
        self._context.note(self.owner.name, "has loaded the log")
        self.judge.loaded()
        self._take(self.shard.loaded(now_ms, self.wall_ms, LEASE_MS), None)

    def move(self, after_ms: int) -> None:
        """The shard goes to another instance, if there is one. Requests that wait are told NOT_COORDINATOR."""
        others = [each for each in self.instances if each.up and each is not self.owner]
        if not others or self.stage is DOWN:
            return
        self._drop(ErrorCode.NOT_COORDINATOR)
        self.stage = DOWN
        self._life += 1
        self._events.after(after_ms, self._take_over, self._life, self._choices.choice(others))

    def _take_over(self, life: int, owner: Instance) -> None:
        if life != self._life:
            return
        up = [each for each in self.instances if each.up]
        if not up:
            self._events.after(1_000, self._take_over, life, owner)
            return
        self.owner = owner if owner.up else self._choices.choice(up)
        for link in self._network.links:
            link.call = link.hot = None  # they were in work at the former owner
        self._context.note(self.owner.name, "takes over")
        self.start()

    # -- faults of instances ------------------------------------------------------------------------------------------

    def crash(self, down_ms: int, wall_jump_ms: int = 0, *, torn: bool = False) -> None:
        """The owner dies and comes back after a while. Another instance takes over meanwhile, or it does so itself."""
        if self.stage is DOWN:
            return
        self.owner.wall_ms += wall_jump_ms
        self.kill(self.owner, down_ms, torn=torn)

    def kill(self, instance: Instance, down_ms: int, *, torn: bool = False) -> None:
        """An instance dies, and after a while another process is in its place. With `torn` the log is cut off in the
        middle of the owner's append.
        """
        if not instance.up:
            return
        self._context.note(instance.name, f"dies, for {down_ms} ms")
        instance.up = False
        self._fronts.reset_instance(instance)
        instance.begin()
        self._events.after(down_ms, self._up, instance)
        if instance is self.owner and self.stage is not DOWN:
            self._drop(answer=None, torn=torn)
            self.stage = DOWN
            self._life += 1
            others = [each for each in self.instances if each.up]
            missed_ms = min(down_ms, MISSED_MS) + 100
            self._events.after(missed_ms, self._take_over, self._life, self._choices.choice(others or [instance]))

    def _up(self, instance: Instance) -> None:
        instance.up = True

    def freeze(self, ms: int) -> None:
        """The owner stands still. It loses the shard if that lasts long."""
        self.stop(self.owner, ms)

    def stop(self, instance: Instance, ms: int) -> None:
        """An instance stands still for a while."""
        if not instance.up:
            return
        now_ms = self._events.now_ms
        self._context.note(instance.name, f"stands still for {ms} ms")
        instance.freeze(now_ms, ms)
        self._events.at(instance.frozen_until_ms, self._go_on_at, instance)
        self._events.after(MISSED_MS, self._missed, instance)

    def _go_on_at(self, instance: Instance) -> None:
        now_ms = self._events.now_ms
        if instance.up and not instance.stands_still(now_ms):
            instance.wake(now_ms)

    def _missed(self, instance: Instance) -> None:
        if instance is self.owner and instance.stands_still(self._events.now_ms):
            self.move(100)

    def _go_on(self) -> None:
        self._go_on_at(self.owner)

    def heal(self) -> None:
        """From now on nothing goes wrong."""
        now_ms = self._events.now_ms
        for instance in self.instances:
            instance.up = True
            if instance is not self.owner and instance.stands_still(now_ms):
                instance.frozen_until_ms = now_ms
            self._go_on_at(instance)
        super().heal()

    # -- connections --------------------------------------------------------------------------------------------------

    def _made(self, link: FrontLink) -> None:
        """A client has connected: the kernel accepts that even for a process that stands still."""
        instance, now_ms = link.instance, self._events.now_ms
        if instance.stands_still(now_ms):
            instance.backlog.append(link)
        else:
            instance.accept(link, now_ms)

    def _gone(self, link: Link) -> None:
        assert isinstance(link, FrontLink)
        if self._put_by(link.instance, link, partial(self._gone, link)):
            return
        link.front_call = link.call = link.hot = None
        link.front_queue.clear()
        if self.owner is link.instance or self.stage is not UP:
            self._closed_at_owner(link)
        else:
            self._tell(link, self._closed_at_owner, link)

    def _closed_at_owner(self, link: FrontLink) -> None:
        if self.stage is UP and self.owner.known.get(link.serial) is link:
            super()._gone(link)

    def _superseded(self, frame: Frame) -> bool:
        assert isinstance(frame.link, FrontLink)
        newest = self.newest_of(getattr(frame.request, "group_id", ""), getattr(frame.request, "member_id", ""))
        return newest is not None and newest.made > frame.link.made

    def newest_of(self, group_id: str, member_id: str) -> FrontLink | None:
        """The connection that the shard believes to be the member's newest one."""
        group = self.shard.state.connect.get(group_id)
        member = None if group is None else group.members.get(member_id)
        return None if member is None else self.owner.known.get(member.connection)

    def _put_by(self, instance: Instance, source: object, read: partial[None]) -> bool:
        """Whether the instance stands still. If so, it reads this later."""
        if instance.stands_still(self._events.now_ms):
            instance.unread.append(Unread(source, read))
            return True
        return False

    # -- requests -----------------------------------------------------------------------------------------------------

    def _arrive(self, frame: Frame) -> None:
        link = frame.link
        assert isinstance(link, FrontLink)
        instance = link.instance
        if not instance.up or not link.server_open:
            return
        if self._put_by(instance, link, partial(self._arrive, frame)):
            return
        if link.front_call is None:
            self._pass_on(frame)
            return
        link.front_queue.append(frame)
        frame.pipelined = True
        if instance is self.owner:
            self._flush_at_owner(link)
        else:
            self._tell(link, self._flush_at_owner, link)

    def _flush_at_owner(self, link: FrontLink) -> None:
        if self.stage is UP and self.owner.known.get(link.serial) is link:
            self._flush_held_reply(link)

    def _pass_on(self, frame: Frame) -> None:
        link = frame.link
        assert isinstance(link, FrontLink)
        link.front_call = frame
        instance, owner = link.instance, self.owner
        if self.stage is DOWN:
            self._back(frame, refuse(frame.request, ErrorCode.NOT_COORDINATOR))
        elif instance is owner:
            self._enter(frame, instance.opening_for(link, owner, self._events.now_ms))
        else:
            opened = instance.opening_for(link, owner, self._events.now_ms)
            self._tell(link, self._enter, frame, opened)
            limit_ms = RELAY_MS + max(0, getattr(frame.request, "max_wait_ms", 0))
            self._events.after(limit_ms, self._stop_waiting, frame, link.instance.life, instance.line_to(owner))

    def _enter(self, frame: Frame, opened: Opening | None) -> None:
        """At the owner: the shard takes the request."""
        link = frame.link
        assert isinstance(link, FrontLink)
        link.serial = self.owner.number_of(link)
        self._opened = opened
        if frame.copied and not self._superseded(frame):
            self._done(frame)
            return
        self._begin(frame)

    def request_context(
        self, connection: int, pipelined: bool = False, version: int = 0, client_id: str = "admin"
    ) -> RequestContext:
        """What the shard is told of a request's connection, also when it was made."""
        context = super().request_context(connection, pipelined, version, client_id)
        return context if connection == 0 else attrs.evolve(context, opened=self._opened)

    # -- between instances --------------------------------------------------------------------------------------------

    def _tell(self, link: FrontLink, read: object, *what: object) -> None:
        """Send something from the connection's instance to the owner."""
        instance, owner = link.instance, self.owner
        line = instance.line_to(owner)
        line.out_ms = max(line.out_ms, self._events.now_ms + self._network.delay())
        message = partial(self._read_line, instance, owner, (instance.life, owner.life), line, line.made, read, *what)
        self._events.at(line.out_ms, message)

    def _read_line(
        self,
        instance: Instance,
        owner: Instance,
        lives: tuple[int, int],
        line: Line,
        made: int,
        read: object,
        *what: object,
    ) -> None:
        if lives[1] != owner.life or not owner.up:
            return
        again = partial(self._read_line, instance, owner, lives, line, made, read, *what)
        if self._put_by(owner, (line, made), again):
            return
        if made < line.read:
            return  # from a connection that was given up; another one was made since
        line.read = made
        if owner is self.owner and self.stage is not DOWN:
            read(*what)  # type: ignore[operator]  # a method of this class
        elif what and isinstance(what[0], Frame):
            self._answer_back(what[0], refuse(what[0].request, ErrorCode.NOT_COORDINATOR))

    def _stop_waiting(self, frame: Frame, life: int, line: Line) -> None:
        """The owner has not responded in time."""
        link = frame.link
        assert isinstance(link, FrontLink)
        if link.front_call is not frame or link.instance.life != life:
            return
        if self._put_by(link.instance, line, partial(self._stop_waiting, frame, life, line)):
            return
        line.made += 1
        self._tell(link, self._line_lost, link.instance)
        self._back(frame, refuse(frame.request, ErrorCode.NOT_COORDINATOR))

    def _line_lost(self, instance: Instance) -> None:
        """At the owner: the former line of that instance has ended, and nobody waits for what came on it."""
        for link in self._network.links:
            if isinstance(link, FrontLink) and link.instance is instance and link.call not in (None, link.front_call):
                self._flush_at_owner(link)
                link.call = None

    def _deliver(self, frame: Frame, response: Response, cached: CachedReply | None) -> None:
        link = frame.link
        assert isinstance(link, FrontLink)
        if link.call is not frame:
            return
        if link.instance.stands_still(self._events.now_ms):
            link.call = None
            self._put_by(link.instance, "answers", partial(self._back, frame, response))
        elif link.instance is self.owner and link.serial == link.number:
            super()._deliver(frame, response, cached)
            self._done(frame)
        else:
            self.judge.leaves(frame)
            link.call = None
            self._answer_back(frame, response)

    def _answer_back(self, frame: Frame, response: Response) -> None:
        link = frame.link
        assert isinstance(link, FrontLink)
        if self._context.tracing:
            self._context.note(f"#{link.serial}", f"   -> {type(response).__name__}, by {link.instance.name}")
        self._events.after(self._network.delay(), self._back, frame, response)

    def _back(self, frame: Frame, response: Response) -> None:
        """At the connection's instance: the response goes to the client, and the next request on the connection is
        passed on.
        """
        link = frame.link
        assert isinstance(link, FrontLink)
        if link.front_call is not frame:
            return
        if self._put_by(link.instance, "answers", partial(self._back, frame, response)):
            return
        self._network.answer(frame, response)
        self._done(frame)

    def _done(self, frame: Frame) -> None:
        link = frame.link
        assert isinstance(link, FrontLink)
        if link.front_call is frame:
            link.front_call = None
            if link.front_queue:
                self._pass_on(link.front_queue.popleft())

    @property
    def is_up(self) -> bool:
        """Whether a connection to any instance can be made."""
        return any(each.up for each in self.instances)

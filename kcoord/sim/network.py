"""How do requests get to the coordinator, and answers back? Over connections that delay, stall, break, and lose.

What a connection keeps is order: nothing overtakes on it. Between connections anything overtakes anything.

- It breaks for one side first. What was under way arrives up to some frame, perhaps late, and not beyond; no answer
  comes by it any more.
- A doubled request is a copy of a frame that comes once more by its old connection, after the member has come by a
  newer one.
- The coordinator's side may take long to see that the other one has gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Protocol

from kcoord.group.step import Remember
from kcoord.protocol.message import Request, Response
from kcoord.sim.events import Events

if TYPE_CHECKING:
    from kcoord.sim.plan import Plan

CALM_MS = 50
"""A message takes so long, at most, when nothing goes wrong any more."""


class Client(Protocol):
    """Who holds the other end of a connection."""

    name: str

    def heard(self, link: Link, number: int, response: Response) -> None: ...
    def lost(self, link: Link) -> None: ...


class Frame:
    """One request by one connection; also the token that a shard hands back."""

    __slots__ = ("began_ms", "copied", "link", "number", "pipelined", "request", "seen", "version")

    def __init__(self, link: Link, number: int, request: Request, version: int = 0) -> None:
        self.link = link
        self.number = number
        self.request = request
        self.version = version
        self.pipelined = False
        self.copied = False
        self.began_ms = -1
        self.seen = -1
        """Appends that its answer could have seen; -1 before there is one."""


class Link:
    """One connection, both ends."""

    __slots__ = (
        "back_ms", "call", "client", "client_open", "flying", "hot", "last", "not_before_ms", "out_ms", "queue",
        "serial", "server_open",
    )  # fmt: skip

    def __init__(self, serial: int, client: Client) -> None:
        self.serial = serial
        self.client = client
        self.client_open = self.server_open = True
        self.flying: deque[Frame] = deque()
        """Requests under way."""
        self.out_ms = self.back_ms = 0
        """When the last request, the last answer arrives: nothing overtakes."""
        self.not_before_ms = 0
        """What is under way arrives no sooner."""
        self.last: Frame | None = None
        # the coordinator's end
        self.queue: deque[Frame] = deque()
        """Read, and waiting for the call in work."""
        self.call: Frame | None = None
        """The request in work."""
        self.hot: tuple[Request, Response, Remember] | None = None


class Network:
    """All connections to the one coordinator."""

    def __init__(self, events: Events, random: Random, plan: Plan) -> None:
        self._events = events
        self._random = random
        self._chance = random.random
        self._latency = plan.latency_ms
        self.links: list[Link] = []
        self.serial = 0
        """Of the newest connection."""
        self.arrive: Callable[[Frame], None]
        """Where requests arrive."""
        self.gone: Callable[[Link], None]
        """Where the end of a connection is seen."""
        self.superseded: Callable[[Frame], bool]
        """Whether the coordinator knows its member by a newer connection."""

    def connect(self, client: Client) -> Link:
        """A new connection, with the highest number so far."""
        self.serial += 1
        link = Link(self.serial, client)
        self.links.append(link)
        return link

    def delay(self) -> int:
        """How long a message takes."""
        return 1 + int(self._chance() * self._latency)

    # -- messages -----------------------------------------------------------------------------------------------------

    def send(self, frame: Frame) -> None:
        """A request leaves."""
        link = frame.link
        at_ms = self._events.now_ms + self.delay()
        if at_ms > link.out_ms:
            link.out_ms = at_ms
        link.flying.append(frame)
        self._events.at(link.out_ms, self._arrived, link)

    def _arrived(self, link: Link) -> None:
        if not link.flying:
            return
        if link.not_before_ms > self._events.now_ms:
            self._events.at(link.not_before_ms, self._arrived, link)
            return
        frame = link.flying.popleft()
        link.last = frame
        self.arrive(frame)

    def answer(self, frame: Frame, response: Response) -> None:
        """An answer leaves."""
        link = frame.link
        at_ms = self._events.now_ms + self.delay()
        if at_ms > link.back_ms:
            link.back_ms = at_ms
        self._events.at(link.back_ms, self._answered, link, frame.number, response)

    def _answered(self, link: Link, number: int, response: Response) -> None:
        if link.client_open:
            link.client.heard(link, number, response)

    # -- ends ---------------------------------------------------------------------------------------------------------

    def stall(self, link: Link, ms: int, *, requests: bool, answers: bool) -> None:
        """Nothing passes for a while, in one direction or in both."""
        until_ms = self._events.now_ms + ms
        if requests:
            link.out_ms = max(link.out_ms, until_ms)
            link.not_before_ms = until_ms
        if answers:
            link.back_ms = max(link.back_ms, until_ms)

    def cut(self, link: Link) -> None:
        """The connection breaks; its client sees that first."""
        if link.client_open:
            self.close(link, orderly=False)
            link.client.lost(link)

    def close(self, link: Link, *, orderly: bool) -> None:
        """The client's end is closed: by itself, or because it has gone. Some of what is under way arrives yet."""
        if not link.client_open:
            return
        link.client_open = False
        chance = self._random.random
        if not orderly or chance() < 0.3:
            for _ in range(int(chance() * (len(link.flying) + 1))):
                link.flying.pop()
        now_ms = self._events.now_ms
        if link.flying and chance() < 0.3:
            link.not_before_ms = max(link.not_before_ms, now_ms + int(chance() * 8_000))
        if not orderly and link.last is not None and chance() < 0.5:
            self._events.after(1 + int(chance() * 6_000), self._double, link.last)
        seen_ms = max(now_ms + self.delay(), link.out_ms, link.not_before_ms)
        if chance() < 0.3:
            seen_ms += int(chance() * 30_000)
        self._events.at(seen_ms, self._seen, link)

    def _double(self, frame: Frame) -> None:
        """Once more, if the client has come by a newer connection: what came before that would be in order."""
        link = frame.link
        if link.server_open and self.superseded(frame):
            again = Frame(link, frame.number, frame.request, frame.version)
            again.copied = True
            self.arrive(again)

    def _seen(self, link: Link) -> None:
        """The coordinator sees that the client has gone."""
        if link.server_open:
            link.server_open = False
            self.links.remove(link)
            self.gone(link)

    def reset(self) -> None:
        """The coordinator's process has died: all connections end, and what is under way is lost. Some clients are not
        even told.
        """
        for link in self.links:
            link.server_open = False
            link.flying.clear()
            link.queue.clear()
            link.call = link.hot = None
            if link.client_open and self._random.random() < 0.8:
                self._events.after(self.delay(), self._told, link)
        self.links.clear()

    def _told(self, link: Link) -> None:
        if link.client_open:
            link.client_open = False
            link.client.lost(link)

    def heal(self) -> None:
        """From now on nothing goes wrong: what stands still ends."""
        now_ms = self._events.now_ms
        self._latency = min(self._latency, CALM_MS)
        for link in list(self.links):
            if max(link.out_ms, link.back_ms) > now_ms + self._latency:
                link.not_before_ms = min(link.not_before_ms, now_ms)
                self.cut(link)

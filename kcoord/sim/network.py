"""The simulated network: connections that carry requests and responses, and that delay, stall, break and lose them.

Each connection keeps order: nothing overtakes on it. Between connections anything can overtake anything.

- A connection breaks for one side first. What was on its way arrives up to some frame, perhaps late, and nothing after
  it. No response comes on it any more.
- A doubled request is a copy of a frame that arrives again on its old connection, after the member has used a newer
  one.
- The coordinator's side may take long to see that the client's side has gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Protocol

from kcoord.group.state.step import CachedReply
from kcoord.protocol.message_base import Request, Response
from kcoord.sim.basis.events import Events
from kcoord.sim.plans.plan import Plan

CALM_MS = 50
"""The longest time that a message takes when nothing goes wrong any more."""


class Client(Protocol):
    """The owner of the client's end of a connection."""

    name: str

    def heard(self, link: Link, number: int, response: Response) -> None: ...
    def lost(self, link: Link) -> None: ...


class Frame:
    """One request on one connection. It is also the token that a shard hands back."""

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
        """How many appends its response could have seen. -1 before there is a response."""


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
        """Requests on their way."""
        self.out_ms = self.back_ms = 0
        """When the last request and the last response arrive: nothing overtakes them."""
        self.not_before_ms = 0
        """What is on its way arrives no sooner."""
        self.last: Frame | None = None
        # the coordinator's end
        self.queue: deque[Frame] = deque()
        """Requests that were read, and wait for the one in work."""
        self.call: Frame | None = None
        """The request in work."""
        self.hot: tuple[Request, Response, CachedReply] | None = None


class Network:
    """All connections to the one coordinator."""

    def __init__(self, events: Events, random: Random, plan: Plan) -> None:
        self._events = events
        self._random = random
        self._chance = random.random
        self._latency = plan.latency_ms
        self.links: list[Link] = []
        self.serial = 0
        """The number of the newest connection."""
        self.arrive: Callable[[Frame], None]
        """Called with each request that arrives."""
        self.gone: Callable[[Link], None]
        """Called when the coordinator sees the end of a connection."""
        self.superseded: Callable[[Frame], bool]
        """Whether the coordinator knows the frame's member by a newer connection."""
        self.reachable: Callable[[], bool]
        """Whether a connection to the coordinator can be made now."""

    def connect(self, client: Client) -> Link:
        """Make a new connection, with the highest number so far."""
        self.serial += 1
        link = Link(self.serial, client)
        self.links.append(link)
        return link

    def delay(self) -> int:
        """How long a message takes."""
        return 1 + int(self._chance() * self._latency)

    # -- messages -----------------------------------------------------------------------------------------------------

    def send(self, frame: Frame) -> None:
        """Send a request."""
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
        """Send a response."""
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
        """Let nothing pass for a while, in one direction or in both."""
        until_ms = self._events.now_ms + ms
        if requests:
            link.out_ms = max(link.out_ms, until_ms)
            link.not_before_ms = until_ms
        if answers:
            link.back_ms = max(link.back_ms, until_ms)

    def cut(self, link: Link) -> None:
        """Break the connection. Its client sees that first."""
        if link.client_open:
            self.close(link, orderly=False)
            link.client.lost(link)

    def close(self, link: Link, *, orderly: bool) -> None:
        """Close the client's end, in order or because the client has died. Some of what is on its way still arrives."""
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
        """Deliver the frame again if the client has used a newer connection: before that, a copy would be in order."""
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
        """The coordinator's process has died: all connections end, and what is on its way is lost. Some clients do not
        even hear of it.
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
        """From now on nothing goes wrong: connections that stand still end."""
        now_ms = self._events.now_ms
        self._latency = min(self._latency, CALM_MS)
        for link in list(self.links):
            if max(link.out_ms, link.back_ms) > now_ms + self._latency:
                link.not_before_ms = min(link.not_before_ms, now_ms)
                self.cut(link)

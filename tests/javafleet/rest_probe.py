"""What do Connect's REST requests come to while work moves? A thread sends them one after the other, each once, to all
workers that are up, and keeps what each came to.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import attrs
import httpx

from tests.javafleet.fleet import JavaFleet
from tests.javafleet.notes import What, now_ms
from tests.javafleet.rest import TIMEOUT_S
from tests.javafleet.worker import JavaWorker
from tests.kafka.http import HTTP
from tests.kafka.process import ServerProcess

PAUSE_S = 0.1
NO_ANSWER = 0
STATUS, TASK, ALL = "status of a connector", "restart of a task", "restart of a connector and its tasks"
REQUESTS = {
    STATUS: ("GET", "/connectors/{name}/status"),
    TASK: ("POST", "/connectors/{name}/tasks/{number}/restart"),
    ALL: ("POST", "/connectors/{name}/restart?includeTasks=true"),
}
LONGEST_TEXT = 300


@attrs.frozen
class Answer:
    """What one request came to."""

    from_ms: int
    to_ms: int
    worker: str
    """Who was asked."""
    request: str
    status: int
    """NO_ANSWER: the connection was refused, or ended."""
    text: str
    """Of what is no success."""

    @property
    def took_s(self) -> float:
        """How long the answer took."""
        return (self.to_ms - self.from_ms) / 1000

    @property
    def is_success(self) -> bool:
        """2xx."""
        return self.status // 100 == 2


@attrs.define(eq=False)
class RestProbe:
    """Asks the workers of a fleet. A worker is asked from when it is healthy until it is told to end."""

    fleet: JavaFleet
    requests: Sequence[str] = tuple(REQUESTS)
    _processes: dict[str, ServerProcess] = attrs.field(factory=dict, init=False)
    """Each worker's process that was healthy last."""
    _healthy_ms: dict[str, list[int]] = attrs.field(factory=lambda: defaultdict(list), init=False)
    """Since when each process of a worker is known to be healthy."""

    @contextmanager
    def asking(self, answers: list[Answer]) -> Iterator[None]:
        """Ask on and on until the block ends; what came of it is added to `answers`."""
        ended = threading.Event()

        def ask() -> None:
            while not ended.is_set():
                answers.extend(self.sweep(ended))

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def sweep(self, ended: threading.Event | None = None) -> Iterator[Answer]:
        """Send each of these requests about each connector and task to each worker, unless this is `ended` before."""
        ended = ended or threading.Event()
        for name, connector in self.fleet.connectors.items():
            for number in range(connector.tasks):
                for worker in self.fleet.workers.values():
                    for request in self.requests:
                        if ended.wait(PAUSE_S):
                            return
                        if isinstance(worker, JavaWorker) and self._is_up(worker):
                            answer = ask_once(worker, request, name, number)
                            if not self._was_told_to_end(answer):
                                yield answer

    def someone_was_away(self, answer: Answer) -> bool:
        """Whether some worker had been told to end, and its next process was not known to be healthy yet."""
        return any(
            left_ms <= answer.to_ms and not any(left_ms < each < answer.from_ms for each in self._healthy_ms[name])
            for name, left_ms in self._left()
        )

    def _is_up(self, worker: JavaWorker) -> bool:
        """Whether it may be asked. A new process is asked for its health first."""
        if not worker.running:
            return False
        process = worker.process
        if self._processes.get(worker.name) is not process:
            if not self.fleet.rest.is_up(worker.id):
                return False
            self._processes[worker.name] = process
            self._healthy_ms[worker.name].append(now_ms())
        return True

    def _was_told_to_end(self, answer: Answer) -> bool:
        up_ms = self._healthy_ms[answer.worker][-1]
        return any(name == answer.worker and up_ms <= left_ms <= answer.to_ms for name, left_ms in self._left())

    def _left(self) -> list[tuple[str, int]]:
        """Which workers were told to end, and when."""
        return [(note.worker, note.at_ms) for note in self.fleet.notes.read() if note.what is What.LEAVING]


def ask_once(worker: JavaWorker, request: str, name: str, number: int) -> Answer:
    """Ask, and take whatever comes."""
    method, path = REQUESTS[request]
    from_ms, began_s = now_ms(), time.monotonic()
    try:
        url = f"http://{worker.id}{path.format(name=name, number=number)}"
        response = HTTP.request(method, url, timeout=TIMEOUT_S)
        status, text = response.status_code, "" if response.is_success else response.text
    except httpx.TransportError as lost:
        status, text = NO_ANSWER, repr(lost)
    to_ms = from_ms + round((time.monotonic() - began_s) * 1000)
    return Answer(from_ms, to_ms, worker.name, request, status, text[:LONGEST_TEXT].strip())


def summary(answers: Sequence[Answer]) -> str:
    """By request, status and text: how many there were, and what the middle one and the longest took."""
    found: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for answer in answers:
        found[answer.request, answer.status, re.sub(r"\d+", "N", answer.text)].append(answer.took_s)
    return "\n".join(
        f"{request}: {status}, {len(took)} times, in {sorted(took)[len(took) // 2]:.2f} s, {max(took):.2f} s at most"
        f"{f': {text}' if text else ''}"
        for (request, status, text), took in sorted(found.items())
    )

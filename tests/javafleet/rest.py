"""How does a test use Connect's REST interface? As any client that asks again while a fleet rebalances."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs
import httpx

from tests.kafka.http import HTTP
from tests.kafka.wait import NotYet, eventually

NOT_FOUND = 404
BUSY = {NOT_FOUND, 409, 500, 503}
"""While a fleet rebalances, a worker does not know yet what another has created, or the leader has gone."""
DEADLINE_S = 240.0
TIMEOUT_S = 100.0
"""As long as a worker may take by itself (90 s)."""


@attrs.frozen
class Rest:
    """Calls, and what had to be asked again: by status, 0 for no answer at all."""

    again: Counter[int] = attrs.field(factory=Counter, init=False)

    def ask(self, worker_id: str, method: str, path: str, json: object = None) -> Any:
        """The answer's JSON, None where there is none.

        Raises AssertionError when the answer is an error, or the worker is busy for too long.
        """

        def answer() -> httpx.Response:
            try:
                response = HTTP.request(method, f"http://{worker_id}{path}", json=json, timeout=TIMEOUT_S)
            except httpx.TransportError as lost:
                self.again[0] += 1
                raise NotYet(repr(lost)) from lost
            if method == "DELETE" and response.status_code == NOT_FOUND:  # an earlier one was done, and not answered
                return httpx.Response(204)
            if response.status_code in BUSY:
                self.again[response.status_code] += 1
                raise NotYet(f"{response.status_code} {response.text}")
            return response

        response = eventually(answer, f"{method} {path} at {worker_id}", deadline_s=DEADLINE_S)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def is_up(self, worker_id: str) -> bool:
        """Whether the worker says that it is healthy: it has joined, and has read its topics. Before 3.9 it lists
        connectors then.
        """
        try:
            status = HTTP.get(f"http://{worker_id}/health", timeout=20).status_code
            if status == NOT_FOUND:
                status = HTTP.get(f"http://{worker_id}/connectors", timeout=20).status_code
            return status == 200
        except httpx.TransportError:
            return False

    def states(self, worker_id: str) -> dict[str, tuple[str, str]]:
        """The state and the worker's id of every "connector NAME" and "task NAME-0", as this worker says."""
        states = {}
        for name, info in self.ask(worker_id, "GET", "/connectors?expand=status").items():
            status = info["status"]
            states[f"connector {name}"] = (status["connector"]["state"], status["connector"]["worker_id"])
            for task in status["tasks"]:
                states[f"task {name}-{task['id']}"] = (task["state"], task["worker_id"])
        return states

"""Whole sessions of hostile clients: a few seeds here, millions of requests by `make fuzz` (`session_fuzz`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcoord.group.state.groups.classic_reasons import Reason
from kcoord.protocol.message_base import Request, Response
from kcoord.server.standalone import CONNECT_GROUP_APIS, GROUP_APIS
from tests.hostile.session_fuzz import replay, run_session, save
from tests.hostile.session_requests import Drawer
from tests.hostile.session_sockets import run_over_sockets
from tests.light import fewer

SEEDS = range(fewer(12, 3))
SESSIONS = sorted((Path(__file__).parent / "sessions").glob("*.json.gz"))
"""Sessions that `make fuzz` has found, each named after what was wrong."""
SERVED = {request.NAME for request in (*GROUP_APIS, *CONNECT_GROUP_APIS)}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_of_hostile_clients_leaves_others_and_the_log_alone(seed: int) -> None:
    outcome = run_session(seed)
    assert outcome.fault is None
    assert outcome.requests > 100


@pytest.mark.parametrize("path", SESSIONS, ids=[path.name.partition(".")[0] for path in SESSIONS])
def test_a_session_that_ended_in_a_fault_does_not_any_more(path: Path) -> None:
    assert replay(path).fault is None


@pytest.mark.parametrize("seed", range(fewer(3, 1)))
def test_so_does_one_over_sockets(seed: int) -> None:
    assert run_over_sockets(seed) > 20


def test_sessions_go_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn requests are not refused at the door: many are answered without an error, of every API that is served."""
    fine: set[str] = set()
    learn = Drawer.learn

    def note(drawer: Drawer, number: int, request: Request, response: Response) -> None:
        if not getattr(response, "error_code", 0):
            fine.add(type(request).NAME)
        learn(drawer, number, request, response)

    monkeypatch.setattr(Drawer, "learn", note)
    for seed in range(100, 104):
        assert run_session(seed).fault is None
    assert fine >= SERVED


def test_a_fault_is_found_and_its_session_replayed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a fault planted where a member leaves, a session finds it, and the saved session shows it again."""

    def broken(_reason: Reason, who: object, client_reason: str | None = None) -> str:
        raise RuntimeError("planted")

    with monkeypatch.context() as planted:
        planted.setattr("kcoord.group.classic.leave_group.tell", broken)
        outcomes = (run_session(seed) for seed in range(50))
        found = next(outcome for outcome in outcomes if outcome.fault is not None)
        assert "planted" in (found.fault or "")
        path = save(found, tmp_path)
        assert "planted" in (replay(path).fault or "")
    assert replay(path).fault is None

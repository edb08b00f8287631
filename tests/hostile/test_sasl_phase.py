"""When is a connection's client known to upstream, and when no more? GW-5, step by step."""

from __future__ import annotations

import pytest

from kcoord.gateway.session.sasl import SaslPhase
from kcoord.protocol.errors import ErrorCode

NONE, FAILED = ErrorCode.NONE, ErrorCode.SASL_AUTHENTICATION_FAILED


def begun(mechanism: str, version: int = 1) -> SaslPhase:
    phase = SaslPhase()
    phase.begin(mechanism, version)
    return phase


@pytest.mark.parametrize(
    ("mechanism", "answers", "holds"),
    [
        ("PLAIN", [(NONE, b"")], True),
        ("PLAIN", [(FAILED, b"")], False),
        ("SCRAM-SHA-256", [(NONE, b"r=")], False),
        ("SCRAM-SHA-256", [(NONE, b"r="), (NONE, b"v=")], True),
        ("SCRAM-SHA-512", [(NONE, b"r="), (FAILED, b"")], False),
        ("OAUTHBEARER", [(NONE, b"")], True),
        ("OAUTHBEARER", [(NONE, b'{"status":"invalid_token"}')], False),
        ("OAUTHBEARER", [(NONE, b'{"status":"invalid_token"}'), (FAILED, b"")], False),
        ("GSSAPI", [(NONE, b"1"), (NONE, b"2"), (NONE, b"3")], False),
    ],
)
def test_only_upstreams_answers_prove(mechanism: str, answers: list[tuple[ErrorCode, bytes]], holds: bool) -> None:
    phase = begun(mechanism)
    for error, token in answers:
        phase.round_answered(error, token, 0, 0)
    phase_before_asking = phase.proved
    phase.ordinary_request()
    assert (phase_before_asking, phase.proved, phase.holds(0)) == (holds, holds, holds)


def test_raw_tokens_prove_nothing() -> None:
    phase = begun("PLAIN", version=0)
    phase.raw_token()
    phase.ordinary_request()
    assert phase.may_ask, "upstream can be asked"
    assert not phase.holds(0), "and has to be"
    phase.proved = True
    assert phase.holds(0)


def test_a_new_exchange_takes_the_proof_away_until_it_has_succeeded() -> None:
    phase = begun("PLAIN")
    phase.round_answered(NONE, b"", 0, 0)
    assert phase.holds(0)
    phase.begin("PLAIN", 1)
    assert not phase.holds(0)
    phase.round_answered(FAILED, b"", 0, 0)
    phase.ordinary_request()
    assert not phase.holds(0)
    phase.begin("PLAIN", 1)
    phase.round_answered(NONE, b"", 0, 0)
    assert phase.holds(0)


def test_a_session_that_has_expired_holds_no_more() -> None:
    phase = begun("PLAIN")
    phase.round_answered(NONE, b"", 1_000, 5_000)
    assert phase.holds(5_999)
    assert not phase.holds(6_000)

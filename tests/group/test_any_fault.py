"""Whatever step of whatever history breaks off, at whatever record: it is as if it had never been.

The random histories of `test_any_history.py`, each step of which a saboteur breaks off on a copy first.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.group.connect.test_any_history import History as ConnectHistory
from tests.group.test_any_history import History as ClassicHistory


class ClassicFaults(ClassicHistory):
    """A classic group."""

    sabotaged = True


class ConnectFaults(ConnectHistory):
    """A connect group."""

    sabotaged = True


FEW = settings(max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])

TestClassicFaults = ClassicFaults.TestCase
TestClassicFaults.settings = FEW
TestConnectFaults = ConnectFaults.TestCase
TestConnectFaults.settings = FEW


@pytest.mark.proof
@pytest.mark.parametrize("history", [ClassicFaults, ConnectFaults])
def test_any_fault_in_many_histories(history: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(history, settings=settings(FEW, max_examples=150, stateful_step_count=30))

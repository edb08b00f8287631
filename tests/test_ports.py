"""Are the ports of servers that are down kept from other processes of the tests?"""

import subprocess
import sys

import pytest

from tests.kafka import ports
from tests.repository import ROOT

OTHER = """
import sys
from tests.kafka import ports
ports.FIRST, ports.LAST = {first}, {last}
try:
    print(ports.port_block({length}), flush=True)
except RuntimeError as error:
    print(error, flush=True)
"""
LENGTH = 5


def asked_for(first: int, length: int) -> str:
    """What another process gets that may have only these ports."""
    code = OTHER.format(first=first, last=first + length + 1, length=length)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_what_one_process_has_given_no_other_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = ports.port_block(LENGTH)
    assert asked_for(mine, LENGTH).startswith(f"no {LENGTH} consecutive free ports")
    monkeypatch.setattr(ports, "FIRST", mine)
    monkeypatch.setattr(ports, "LAST", mine + LENGTH + 1)
    with pytest.raises(RuntimeError, match="free ports"):
        ports.port_block(LENGTH)


def test_what_a_process_had_is_free_when_it_has_ended() -> None:
    free = next(first for first in range(ports.FIRST, ports.LAST, LENGTH) if asked_for(first, LENGTH) == str(first))
    assert asked_for(free, LENGTH) == str(free)

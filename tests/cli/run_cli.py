"""How is a command run in a test? As users run it, in a process of its own.

Commands are forked from a process that has imported what they need (`tests/kafka/forked_kcoord.py`). What is asked of
Python itself, or of another release, gets a new interpreter.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tests.kafka.forked_kcoord import ForkedKcoord
from tests.repository import ROOT

DEADLINE_S = 180.0


@attrs.frozen
class Outcome:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def kcoord(
    *arguments: object, env: Mapping[str, str] | None = None, deadline_s: float = DEADLINE_S, site: Path = ROOT
) -> Outcome:
    """Run `kcoord` with these arguments to its end. `site` has the package: another folder is another release. Raises
    subprocess.TimeoutExpired if it does not end.
    """
    outside = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}
    named = {**outside, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", "COLUMNS": "100", **(env or {})}
    words = [*map(str, arguments)]
    if site != ROOT or any(name.startswith("PYTHON") for name in env or {}):
        return _interpreted(words, named, deadline_s)
    return _forked(words, named, deadline_s)


def _interpreted(words: Sequence[str], env: Mapping[str, str], deadline_s: float) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "kcoord", *words],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=deadline_s,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def _forked(words: Sequence[str], env: Mapping[str, str], deadline_s: float) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = ForkedKcoord(words, env, out, err)
        try:
            code = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise subprocess.TimeoutExpired(["kcoord", *words], deadline_s, out.read_text(), err.read_text()) from None
        return Outcome(code, out.read_text(), err.read_text())

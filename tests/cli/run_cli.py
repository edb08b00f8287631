"""How is a command run in a test? As users run it, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
DEADLINE_S = 180.0


@attrs.frozen
class Outcome:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def kcoord(
    *arguments: object, env: dict[str, str] | None = None, deadline_s: float = DEADLINE_S, site: Path = ROOT
) -> Outcome:
    """Run `kcoord` with these arguments to its end. `site` has the package: another folder is another release."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}
    done = subprocess.run(
        [sys.executable, "-m", "kcoord", *map(str, arguments)],
        env={**outside, "PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", "COLUMNS": "100", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=deadline_s,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)

"""How is a command run in a test? As users run it, in a process of its own.

To import the command line takes half a second of a core, and the tests run more than a thousand commands. So commands
are forked from a process that has done so (multiprocessing's fork server). What is asked of Python itself, or of
another release, gets a new interpreter.
"""

import multiprocessing
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
DEADLINE_S = 180.0
FORKED = multiprocessing.get_context("forkserver")
IMPORTED = ("kcoord.cli", "kcoord.client")
"""The packages whose modules that process has imported."""


def _modules(package: str) -> Iterator[str]:
    """The names of a package's modules."""
    return (each.name for each in pkgutil.walk_packages([ROOT / package.replace(".", "/")], f"{package}."))


FORKED.set_forkserver_preload(["kcoord.settings", *chain.from_iterable(map(_modules, IMPORTED))])


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
        process = FORKED.Process(target=_be_the_command, args=(words, dict(env), out, err))
        process.start()
        process.join(deadline_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(["kcoord", *words], deadline_s, out.read_text(), err.read_text())
        return Outcome(process.exitcode, out.read_text(), err.read_text())


def _be_the_command(words: Sequence[str], env: Mapping[str, str], out: Path, err: Path) -> None:
    """As `python -m kcoord` does, in a process that has been forked for it."""
    os.environ.clear()
    os.environ.update(env)
    for number, (path, how) in enumerate(((Path(os.devnull), os.O_RDONLY), (out, _WRITTEN), (err, _WRITTEN))):
        opened = os.open(path, how, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["kcoord", *words]
    runpy.run_module("kcoord", run_name="__main__", alter_sys=True)


_WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_APPEND

"""The proofs: tests marked `proof`, too long for every commit, and the record of which passed on which commit.

`make proof` runs them. Each result is written down at once in build/proof/COMMIT.jsonl, so that a run that was stopped
goes on where it stopped: what passed on this commit is not run again. Where the tree differs from its commit, the
differences are part of the name. Why a test has failed stands in COMMIT.failures as soon as it has ended. Arguments, if
any, are pytest's: files and folders, `-k`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[1]
RECORDS = Path("build", "proof")
NO_HISTORY = "no-history"
"""The commit's name where the sources are not a git checkout."""


@attrs.frozen
class Result:
    """What became of one proof: `outcome` is passed, failed or skipped."""

    test: str
    outcome: str
    seconds: float
    at: str


class ProofRecord:
    """The results of one commit's proofs, in a file of one JSON object a line. The last of a test's results counts."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.commit = commit
        self.file = folder / f"{commit}.jsonl"

    def results(self) -> dict[str, Result]:
        """The last result of each test; a line that a kill cut off is left out."""
        found: dict[str, Result] = {}
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        for line in lines:
            try:
                result = Result(**json.loads(line))
            except ValueError:
                continue
            found[result.test] = result
        return found

    def add(self, result: Result) -> None:
        """Write one result down."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        cut_off = self.file.exists() and not self.file.read_bytes().endswith(b"\n")
        with self.file.open("a") as file:
            file.write("\n" * cut_off + json.dumps(attrs.asdict(result)) + "\n")

    def explain(self, test: str, why: str) -> None:
        """Write down at once why a test has failed: pytest prints that when all have ended."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.with_suffix(".failures").open("a") as file:
            file.write(f"{test}\n{why}\n\n")

    def remaining(self, tests: Sequence[str]) -> list[str]:
        """The tests that have not passed yet."""
        results = self.results()
        return [test for test in tests if test not in results or results[test].outcome != "passed"]


class ProofRecorder:
    """A plugin of pytest that writes down what became of each test as soon as it has ended."""

    def __init__(self, record: ProofRecord) -> None:
        self._record = record
        self._phases: dict[str, list[tuple[str, float]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has been set up, called or torn down; the worst of the three is its result."""
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append((report.outcome, report.duration))
        if report.failed:
            self._record.explain(report.nodeid, report.longreprtext)
        if report.when == "teardown":
            del self._phases[report.nodeid]
            outcomes = {outcome for outcome, _ in phases}
            outcome = next(each for each in ("failed", "skipped", "passed") if each in outcomes)
            seconds = round(sum(seconds for _, seconds in phases), 1)
            self._record.add(Result(report.nodeid, outcome, seconds, datetime.now(UTC).isoformat(timespec="seconds")))


def commit_name(root: Path) -> str:
    """The commit whose sources are here, with a digest of the differences where there are any."""
    try:
        commit = _git(root, "rev-parse", "HEAD").decode().strip()
        changes = _git(root, "diff", "--binary", "HEAD")
        new_files = _git(root, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0")
    except (OSError, subprocess.CalledProcessError):
        return NO_HISTORY
    digest = hashlib.sha256(changes)
    for name in filter(None, new_files):
        digest.update(name)
        digest.update((root / os.fsdecode(name)).read_bytes())
    return f"{commit}+{digest.hexdigest()[:12]}" if changes or any(new_files) else commit


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout


def collect(root: Path, arguments: Sequence[str]) -> list[str]:
    """The node ids of all proofs; raises RuntimeError with pytest's own words where the tests cannot be read."""
    command = [sys.executable, "-m", "pytest", "-m", "proof", "--collect-only", "-q", *arguments]
    done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True)
    if done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(done.stdout + done.stderr)
    listed = takewhile(str.strip, done.stdout.splitlines())
    return [line for line in listed if "::" in line]


def environment() -> dict[str, str]:
    """The proofs' environment: fault runs are long (tests/faults/length.py)."""
    return {**os.environ, "TESTS_FAULTS": "long"}


def summary(commit: str, tests: Sequence[str], results: Mapping[str, Result]) -> list[str]:
    """Which proofs ran on this commit, and what became of them, line by line."""
    outcomes = {test: results[test].outcome if test in results else "not run" for test in tests}
    lines = [f"proofs on commit {commit}:"]
    for test, outcome in outcomes.items():
        seconds = f" in {results[test].seconds:.0f} s, {results[test].at}" if test in results else ""
        lines.append(f"  {outcome:8}{test}{seconds}")
    counts = [f"{list(outcomes.values()).count(each)} {each}" for each in ("passed", "failed", "skipped", "not run")]
    lines.append(f"  {', '.join(counts)} of {len(tests)}")
    return lines


def prove(root: Path, arguments: Sequence[str]) -> int:
    """Run the proofs below `root` that have not passed on its commit; 0 when all have passed now or before."""
    record = ProofRecord(root / RECORDS, commit_name(root))
    try:
        tests = collect(root, arguments)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    remaining = record.remaining(tests)
    print(f"{len(tests) - len(remaining)} of {len(tests)} proofs passed on {record.commit} before", flush=True)
    if remaining:
        os.environ.update(environment())
        processes = os.environ.get("TESTS_PROOF_PROCESSES") or str(os.cpu_count() or 1)
        spread = ["-n", processes, "--dist", "loadfile", "--no-loadscope-reorder"]
        pytest.main(["-m", "proof", *spread, *remaining], plugins=[ProofRecorder(record)])
    results = record.results()
    print("\n".join(summary(record.commit, tests, results)))
    return int(any(test not in results or results[test].outcome != "passed" for test in tests))


if __name__ == "__main__":
    sys.exit(prove(ROOT, sys.argv[1:]))

"""The journal of a soak: which seeds ran on which commit, and what they found. A soak that was stopped resumes from it.

The file has one JSON object a line, appended when a block of seeds is done:

| field | meaning |
| --- | --- |
| `commit` | the commit of the sources, with a digest if they differ from it |
| `engine` | a digest of the packages under test: equal for commits that differ at most in comments and docstrings |
| `kind` | the kind of the runs: `connect`, `mixed`, …, or `each` if every seed has its own |
| `from`, `to` | the block: these seeds, without `to` |
| `steps`, `virtual_ms` | the sums of the block's runs |
| `failed` | failing seed → what was violated |
| `met` | sometimes-condition → how many of the runs met it |
| `fingerprint` | the sum of the runs' fingerprints (`fingerprint.py`): equal for engines that behave in the same way |
"""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

import kcoord
from kcoord.sim.basis.fingerprint import together
from kcoord.sim.basis.outcome import Outcome

BLOCK = 1_000
"""How many seeds are written down together."""
PACKAGE = Path(kcoord.__file__).parent
ENGINE = ("assign", "group", "protocol", "worker")
"""The packages that the simulator tests."""
EACH = "each"
"""The kind of a soak in which every seed has its own kind."""
NO_HISTORY = "no-history"
"""The name of the commit if the sources are not a git checkout."""

Range = tuple[int, int]
"""Seeds from the first number to the second, without the second."""


@attrs.frozen
class Tree:
    """The sources that run."""

    commit: str
    engine: str


@attrs.define
class Block:
    """The results of some seeds on one tree."""

    tree: Tree
    kind: str
    seeds: Range
    steps: int = 0
    virtual_ms: int = 0
    runs: int = 0
    failed: dict[int, str] = attrs.Factory(dict)
    met: Counter[str] = attrs.Factory(Counter)
    fingerprint: int = 0

    def add(self, outcome: Outcome) -> None:
        """Add one run of the block that has ended."""
        self.runs += 1
        self.steps += outcome.steps
        self.virtual_ms += outcome.virtual_ms
        self.met.update(outcome.met)
        self.fingerprint = together((self.fingerprint, outcome.fingerprint))
        if outcome.violation is not None:
            self.failed[outcome.seed] = str(outcome.violation)

    @property
    def complete(self) -> bool:
        """Whether all of its seeds have run."""
        return self.runs == self.seeds[1] - self.seeds[0]


class Journal:
    """The blocks that have run, in one file. Several processes may append to it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def blocks(self) -> Iterator[Block]:
        """All blocks in the file. A line that a kill cut off is left out."""
        if not self.file.exists():
            return
        with self.file.open() as lines:
            for line in lines:
                try:
                    yield _block(json.loads(line))
                except (ValueError, KeyError, TypeError):
                    continue

    def done(self, tree: Tree, kind: str) -> list[Range]:
        """The seeds that have run on this commit, in order, with adjacent ranges joined."""
        return joined(block.seeds for block in self.blocks() if block.tree == tree and block.kind == kind)

    def remaining(self, tree: Tree, kind: str, wanted: Range) -> list[Block]:
        """The blocks of `wanted` that have yet to run on this commit."""
        return [Block(tree, kind, each) for left in without(wanted, self.done(tree, kind)) for each in _cut(left)]

    def add(self, block: Block) -> None:
        """Write a complete block down."""
        line = {
            "commit": block.tree.commit,
            "engine": block.tree.engine,
            "kind": block.kind,
            "from": block.seeds[0],
            "to": block.seeds[1],
            "steps": block.steps,
            "virtual_ms": block.virtual_ms,
            "failed": block.failed,
            "met": dict(sorted(block.met.items())),
            "fingerprint": block.fingerprint,
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def _block(line: dict[str, Any]) -> Block:
    seeds = (int(line["from"]), int(line["to"]))
    failed = {int(seed): text for seed, text in line["failed"].items()}
    return Block(
        Tree(line["commit"], line["engine"]),
        line["kind"],
        seeds,
        line["steps"],
        line["virtual_ms"],
        seeds[1] - seeds[0],
        failed,
        Counter(line["met"]),
        line.get("fingerprint", 0),
    )


# -- ranges of seeds --------------------------------------------------------------------------------------------------


def joined(ranges: Iterable[Range]) -> list[Range]:
    """The same seeds in as few ranges as possible, in order."""
    found: list[Range] = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def without(wanted: Range, done: Iterable[Range]) -> list[Range]:
    """The seeds of `wanted` that are not in `done`, which is in order."""
    left: list[Range] = []
    begin, end = wanted
    for first, last in done:
        if first >= end:
            break
        if first > begin:
            left.append((begin, first))
        begin = max(begin, last)
    if begin < end:
        left.append((begin, end))
    return left


def _cut(seeds: Range) -> Iterator[Range]:
    """Cut a range at each multiple of BLOCK."""
    begin, end = seeds
    while begin < end:
        until = min(end, (begin // BLOCK + 1) * BLOCK)
        yield begin, until
        begin = until


# -- the sources ------------------------------------------------------------------------------------------------------


def tree(package: Path = PACKAGE) -> Tree:
    """The sources that this process runs, as they are on disk."""
    engine = _digest((package / each for each in ENGINE), _code)
    head = _git(package, "rev-parse", "--short=12", "HEAD")
    if head is None:
        return Tree(f"{NO_HISTORY}+{_digest([package])}", engine)
    changed = _git(package, "status", "--porcelain", "--", ".")
    return Tree(f"{head}+{_digest([package])}" if changed else head, engine)


def _git(folder: Path, *words: str) -> str | None:
    try:
        said = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()


def _digest(folders: Iterable[Path], content: Callable[[Path], bytes] = Path.read_bytes) -> str:
    """A digest of all Python files in these folders, by name and content."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            digest.update(str(file.relative_to(folder)).encode() + b"\0" + content(file) + b"\0")
    return digest.hexdigest()[:12]


def _code(file: Path) -> bytes:
    """The part of a module that runs, as this version of Python shows it: neither comments nor docstrings."""
    module = ast.parse(file.read_bytes())
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_text(each)]
    return ast.dump(module).encode()


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )

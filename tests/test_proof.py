"""The runner of proofs: what passed on a commit is not run again on it, and everything else is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[1]
PROJECT = """
[tool.pytest.ini_options]
addopts = ["-m", "not proof", "-p", "no:cacheprovider"]
markers = ["proof: long"]
"""
TESTS = """
import pathlib, pytest

def note(name):
    with open("ran", "a") as file:
        file.write(name + "\\n")

def test_short():
    note("short")

@pytest.mark.proof
@pytest.mark.parametrize("case", ["a [::] b", "c"])
def test_sound(case):
    note(case)

@pytest.mark.proof
def test_mended_later():
    note("mended later")
    assert pathlib.Path("mended").exists()
"""
PROVE = "import sys, pathlib; from tests.proof import prove; sys.exit(prove(pathlib.Path.cwd(), sys.argv[1:]))"


@attrs.frozen
class Project:
    """A project with three proofs, one of which fails until a file `mended` is there (git does not see that file)."""

    folder: Path

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=tests", "-c", "user.email=tests@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True)

    def prove(self, *arguments: str) -> tuple[int, list[str], str]:
        """The exit status, the tests that ran, and what was printed."""
        ran = self.folder / "ran"
        ran.unlink(missing_ok=True)
        environment = {"PYTHONPATH": str(ROOT), "TESTS_PROOF_PROCESSES": "0", "PATH": "/usr/bin:/bin"}
        command = [sys.executable, "-c", PROVE, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        return done.returncode, ran.read_text().splitlines() if ran.exists() else [], done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The project, committed."""
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / ".gitignore").write_text("ran\nmended\nbuild\n__pycache__\n")
    made = Project(tmp_path)
    made.git("init", "--quiet")
    made.git("add", ".")
    made.git("commit", "--quiet", "--message", "all")
    return made


@pytest.mark.long("runs pytest several times")
def test_a_second_call_runs_what_has_not_passed(project: Project) -> None:
    status, ran, shown = project.prove()
    assert (status, ran) == (1, ["a [::] b", "c", "mended later"])
    assert "2 passed, 1 failed, 0 skipped, 0 not run of 3" in shown
    (why,) = (project.folder / "build" / "proof").glob("*.failures")
    assert why.read_text().startswith("test_it.py::test_mended_later\n")
    assert "AssertionError" in why.read_text()
    (project.folder / "mended").touch()
    assert project.prove()[:2] == (0, ["mended later"])
    status, ran, shown = project.prove()
    assert (status, ran) == (0, [])
    assert "3 passed, 0 failed, 0 skipped, 0 not run of 3" in shown


@pytest.mark.long("runs pytest several times")
def test_a_proof_of_another_commit_proves_nothing(project: Project) -> None:
    (project.folder / "mended").touch()
    assert project.prove("-k", "sound")[:2] == (0, ["a [::] b", "c"])
    (project.folder / "new.py").write_text("")
    assert project.prove()[1] == ["a [::] b", "c", "mended later"]
    project.git("add", ".")
    project.git("commit", "--quiet", "--message", "more")
    assert project.prove()[1] == ["a [::] b", "c", "mended later"]
    project.git("checkout", "--quiet", "HEAD~")
    assert project.prove()[1] == ["mended later"]


@pytest.mark.long("runs pytest several times")
def test_a_result_that_a_kill_cut_off_is_not_one(project: Project) -> None:
    (project.folder / "mended").touch()
    assert project.prove()[0] == 0
    [record] = (project.folder / "build" / "proof").iterdir()
    record.write_bytes(record.read_bytes()[:-20])
    assert project.prove()[:2] == (0, ["mended later"])
    assert project.prove()[:2] == (0, [])


def test_tests_that_cannot_be_read_prove_nothing(project: Project) -> None:
    (project.folder / "test_it.py").write_text("import nothing_of_that_name")
    status, ran, shown = project.prove()
    assert (status, ran) == (1, [])
    assert "No module named 'nothing_of_that_name'" in shown

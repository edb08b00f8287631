"""Does the codec do the same when it is compiled with mypyc? The tests of the codec run again on compiled modules.

A proof: compiling is optional, takes long, and what is compiled is tested at each commit as it stands.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from schemas.compiled import ROOT, compile_into

pytestmark = pytest.mark.proof
MODULES = ["heartbeat_request", "join_group_request", "find_coordinator_request", "connect_group_heartbeat_request"]
MESSAGES = " or ".join(
    [
        *("HeartbeatRequest-v", "JoinGroupRequest-v", "FindCoordinatorRequest-v", "a_message_is_these_bytes"),
        *("mutated", "refused", "claimed"),
    ]
)
TESTS = ["test_codec.py", "test_against_kio.py", "test_bad_bytes.py", "test_connect_groups.py"]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which these modules are compiled."""
    compiler = sysconfig.get_config_var("CC") or "cc"
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"compiling the codec is optional, and there is no {compiler.split()[0]} on the PATH")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("compiling the codec is optional, and Python's headers are not installed (Debian: python3-dev)")
    directory = tmp_path_factory.mktemp("compiled")
    compile_into(directory, MODULES)
    for folder in ("tests", "schemas"):
        shutil.copytree(ROOT / folder, directory / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", directory)
    return directory


def _run(directory: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_it_is_the_compiled_modules_that_are_loaded(compiled: Path) -> None:
    for module in MODULES:
        shown = _run(compiled, "-c", f"import kcoord.protocol.generated.{module} as module; print(module.__file__)")
        assert shown.strip().endswith(sysconfig.get_config_var("EXT_SUFFIX"))


def test_the_classes_are_the_same_attrs_classes(compiled: Path) -> None:
    show = (
        "import attrs; from kcoord.protocol.messages import JoinGroupRequest as m; "
        "print(m(), [f.name for f in attrs.fields(m)], m.NAME, m.MAX_VERSION, m() == m(), hasattr(m(), '__dict__'))"
    )
    assert _run(compiled, "-c", show) == _run(ROOT, "-c", show)


def test_the_tests_of_the_codec_hold(compiled: Path) -> None:
    tests = [f"tests/protocol/{name}" for name in TESTS]
    _run(compiled, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", MESSAGES, *tests)

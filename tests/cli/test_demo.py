"""Does `make run`'s demo show a live group, and end all that it started?"""

import contextlib
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import psutil
import pytest

from kcoord.cli.demo.connectors import Collect
from kcoord.cli.demo.ticks import Ticks
from kcoord.worker.runner import Context
from tests.cli.conftest import Worker
from tests.cli.run_cli import kcoord
from tests.kafka.ports import free_port
from tests.kafka.process import ServerProcess
from tests.kafka.wait import DEADLINE_S, NotYet, eventually
from tests.repository import ROOT

pytestmark = pytest.mark.long("starts a coordinator and several workers")

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@attrs.define
class Screen:
    """The demo in a terminal of its own."""

    popen: "subprocess.Popen[bytes]"
    terminal: int
    read: str = ""

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Until the screen, drawn anew, shows that."""
        self.read = ""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            ready, _, _ = select.select([self.terminal], [], [], 0.1)
            if ready:
                with contextlib.suppress(OSError):  # the demo has ended
                    self.read += os.read(self.terminal, 1 << 16).decode(errors="replace")
            if found := re.search(pattern, ESCAPES.sub("", self.read)):
                return found
        raise AssertionError(f"{pattern!r} is not on the screen: {ESCAPES.sub('', self.read)[-3000:]}")


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("KCOORD_", "COLUMNS", "LINES"))}
    popen = subprocess.Popen(
        [*(sys.executable, "-m", "kcoord", "demo"), "--listen", f"127.0.0.1:{free_port()}", "--data-dir", tmp_path],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**env, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(theirs)
    yield Screen(popen, ours)
    for child in psutil.Process(popen.pid).children() if popen.poll() is None else []:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    popen.kill()
    popen.wait()
    os.close(ours)


def children_of(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children()


def test_a_live_group_on_a_terminal(screen: Screen) -> None:
    """Its screen says how to kill a worker and the coordinator; both are seen, and Ctrl-C ends it all."""
    screen.wait_for(r"(?s)demo: Stable at epoch.*worker-1 +\d+ +\d+ +Stable.*worker-3 +\d+ +\d+ +Stable")
    shown = screen.wait_for(r"(?s)kill (worker-\d):.*?kill -9 (\d+)")
    name, pid = shown[1], int(shown[2])
    screen.wait_for(r"clock ticks: [1-9]\d* written, none twice")
    for what in ("add a worker", "restart worker-1", "add a connector", "groups explain demo", "the coordinator"):
        screen.wait_for(what)
    os.kill(pid, signal.SIGKILL)
    screen.wait_for(rf"{name} +{pid} ended")
    first = int(screen.wait_for(r"coordinator 127\.0\.0\.1:\d+, pid (\d+)")[1])
    os.kill(first, signal.SIGKILL)

    def again() -> bool:
        found = screen.wait_for(r"coordinator 127\.0\.0\.1:\d+, pid (\d+)   ?(the coordinator does not)?")
        if int(found[1]) == first or found[2]:
            raise NotYet(found[0])
        return True

    eventually(again, "the coordinator is back")
    children = children_of(screen.popen.pid)
    assert len(children) == 3
    os.write(screen.terminal, b"\x03")
    os.killpg(screen.popen.pid, signal.SIGINT)  # what a terminal that controls the session does on Ctrl-C
    screen.wait_for("The demo has ended, and so have all processes that it started.")
    assert screen.popen.wait(DEADLINE_S) == 0
    assert not any(child.is_running() for child in children)


def test_lines_where_there_is_no_terminal(start_command: Callable[..., Worker], tmp_path: Path) -> None:
    port = free_port()
    demo = start_command("demo", "--listen", f"127.0.0.1:{port}", "--data-dir", str(tmp_path), "--workers", "2")

    def both() -> str:
        demo.process.check_running()
        shown = demo.process.log.read_text()
        if not re.search(
            r"\n    worker-1 \(pid \d+\), Stable: .+\n    worker-2 \(pid \d+\), Stable: .+\n    clock ", shown
        ):
            raise NotYet(shown)
        return shown

    shown = eventually(both, "two workers are shown")
    assert f"kcoord demo: coordinator at 127.0.0.1:{port}, pid " in shown
    assert re.search(r"\d\d epoch 1: worker joined: worker-\d-[0-9a-f]{4}", shown)
    assert "\x1b" not in shown
    children = children_of(demo.process.popen.pid)
    assert len(children) == 3
    again = kcoord("demo", "--listen", f"127.0.0.1:{port}", "--data-dir", tmp_path)
    assert again.code == 1
    assert again.err.startswith(f"kcoord: port {port} is taken: something listens on 127.0.0.1:{port} already. ")
    bounced = paste_what_is_shown(demo, tmp_path)
    assert demo.process.stop() == 0
    bounced.kill()
    assert not any(child.is_running() for child in children)
    assert "Traceback" not in demo.process.log.read_text()
    assert "has left group demo" in (tmp_path / "demo/logs/worker-1.log").read_text()


def paste_what_is_shown(demo: Worker, data: Path) -> ServerProcess:
    """Add a connector and bounce a worker by the commands that stand there; gives the worker as it came back."""
    shown = demo.process.log.read_text()
    [copy] = re.findall(r"^    (cp .*)$", shown, re.M)
    subprocess.run(shlex.split(copy), check=True)
    demo.wait_for("connectors or tasks changed")
    [(kill, again)] = re.findall(r"restart worker-1: .*\n    (kill \d+; .*)\n    (.*)\n", shown)
    subprocess.run(kill, shell=True, check=True, timeout=DEADLINE_S)
    bounced = ServerProcess.start(
        "bounced", shlex.split(again), data / "bounced.log", {**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        demo.wait_for("worker-1 (elsewhere), Stable: ")
        assert "worker left" not in demo.said
    except AssertionError:
        bounced.kill()
        raise
    return bounced


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = kcoord("demo", "--listen", f"127.0.0.1:{port}", "--data-dir", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"kcoord: port {port} is taken: ")
    assert outcome.err.endswith(f" -m kcoord demo --listen localhost:{port + 100}\n")
    assert outcome.err.count("\n") == 1


def test_a_coordinator_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "kcoord.db").write_bytes(b"something else entirely" * 100)
    outcome = kcoord("demo", "--listen", f"127.0.0.1:{free_port()}", "--data-dir", tmp_path)
    assert outcome.code == 1
    assert outcome.err.startswith(f"kcoord: the coordinator did not start: the log {tmp_path}/kcoord.db is damaged: ")


def test_ticks_are_counted(tmp_path: Path) -> None:
    """A second that stands there twice is two tasks of one number; one that is missing fell into a hand-over."""
    (tmp_path / "clock-0.txt").write_text("1 7\n1 8\n")
    ticks = Ticks(tmp_path)
    ticks.look()
    assert str(ticks) == "clock ticks: 0 written, none twice, none missed"
    for text, said in [
        ("5 7\n6 7\n", "2 written, none twice, none missed"),
        ("8 9\n", "3 written, none twice, 1 missed while nobody ran them"),
        ("8 7\n9", "4 written, 1 twice, 1 missed while nobody ran them"),
        (" 9\n", "5 written, 1 twice, 1 missed while nobody ran them"),
    ]:
        with (tmp_path / "clock-0.txt").open("a") as file:
            file.write(text)
        ticks.look()
        assert str(ticks) == f"clock ticks: {said}"


async def test_lines_are_collected_once_however_often_it_is_started(tmp_path: Path) -> None:
    """Whoever takes over goes on where the copy says that it was left, also when the file is a new one."""
    source = tmp_path / "some.log"
    connector = Collect({"folder": str(tmp_path), "files": [str(source)], "contains": "x"})
    [config] = connector.task_configs()
    turns = iter([True, True, False] * 4)
    context = Context(("logs", 0), config, lambda: next(turns))
    copied = tmp_path / "logs-0.txt"
    for text, lines in [
        ("x1\ny\nx2\nx", ["3\tx1", "8\tx2"]),
        ("3\n", ["3\tx1", "8\tx2", "11\tx3"]),
    ]:
        with source.open("a") as file:
            file.write(text)
        await connector.task(config).run(context)
        assert copied.read_text().splitlines() == lines
    source.write_text("x4\n")
    await connector.task(config).run(context)
    assert copied.read_text().splitlines()[-1] == "3\tx4"

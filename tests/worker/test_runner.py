"""Connectors out of a file: what the file may say, how what fails is shown and started again, and who runs what."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from kcoord.resource import connector, task
from kcoord.worker.runner import DefinitionError, Runner
from kcoord.worker.runner.connector import Context
from kcoord.worker.runner.definitions import read
from kcoord.worker.runner.running import Condition, Running
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import eventually
from tests.repository import ROOT
from tests.worker.conftest import OWN
from tests.worker.connectors import Failing, FailingTask, NotingTask
from tests.worker.driver import resources
from tests.worker.stepped import Observer

MODULE = "tests.worker.connectors"


def write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def test_a_file_has_a_table_for_each_connector(tmp_path: Path) -> None:
    """CG-31: the config offset is the file's modification time."""
    file = write(
        tmp_path / "connectors.toml",
        f"""
        [a]
        class = "{MODULE}:Noting"
        tasks = 2
        [b]
        class = "{MODULE}:Failing"
        times = 3
        """,
    )
    os.utime(file, ns=(5, 1_700_000_000_123_456_789))
    definitions = read(file)
    assert definitions.offset == 1_700_000_000_123_456_789
    assert definitions.resources == resources("a a-0 a-1 b b-0")
    assert definitions.config_of(task("a", 1)) == {"tasks": 2}
    assert definitions.config_of(task("a", 2)) is None
    assert definitions.config_of(connector("c")) is None
    assert definitions.connectors["b"].connector is Failing


def test_a_directory_has_a_file_for_each_connector(tmp_path: Path) -> None:
    """CG-31"""
    for name in ("a", "b"):
        write(tmp_path / f"{name}.toml", f'class = "{MODULE}:Noting"')
    os.utime(tmp_path / "a.toml", ns=(1, 2**62))
    definitions = read(tmp_path)
    assert (definitions.offset, definitions.resources) == (2**62, resources("a a-0 b b-0"))
    (tmp_path / "a.toml").unlink()
    assert read(tmp_path).resources == resources("b b-0")


def test_modules_are_found_beside_the_file(tmp_path: Path) -> None:
    write(tmp_path / "beside_the_file.py", f"from {MODULE} import Noting as Here")
    file = write(tmp_path / "connectors.toml", '[a]\nclass = "beside_the_file:Here"')
    assert read(file).resources == resources("a a-0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1", "a is outside any table; put the connector's [NAME] above it"),
        ("[a", "not valid TOML: "),
        ("[a]", '[a]: class = None does not name a class: write class = "module:Class"'),
        ('[a]\nclass = "nowhere_to_be_found:A"', "[a]: class nowhere_to_be_found:A: No module named"),
        (
            f'[a]\nclass = "{MODULE}:NotingTask"',
            f"[a]: class {MODULE}:NotingTask: module {MODULE} has no such Connector",
        ),
        (f'[a]\nclass = "{MODULE}:Failing"', "[a]: times is missing"),
        (f'[a]\nclass = "{MODULE}:Noting"\ntasks = "many"', "[a]: tasks = 'many' is not a number of tasks"),
        (f'[a]\nclass = "{MODULE}:Synchronous"', "[a]: SynchronousTask.run must be `async def run(self, context)`"),
        (f'[a]\nclass = "{MODULE}:WithoutTask"', "[a]: WithoutTask has no tasks to run: give it `task = CLASS`"),
        (f'[a]\nclass = "{MODULE}:Dividing"', "[a]: ZeroDivisionError: "),
        ('[a]\nclass = "tests.worker.unfinished:A"', "[a]: class tests.worker.unfinished:A: NameError: name 'nowhere'"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path / "connectors.toml", text)
    with pytest.raises(DefinitionError) as refused:
        read(file)
    assert str(refused.value).startswith(f"{file}: {message}")
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"none\.toml: cannot be read: No such file"):
        read(tmp_path / "none.toml")


async def until(probe: Callable[[], bool]) -> None:
    async with asyncio.timeout(180):
        while not probe():
            await asyncio.sleep(0.02)


async def test_what_fails_is_shown_and_started_again() -> None:
    FailingTask.failures = 0
    context = Context(task("b", 0), {"times": 2}, lambda: True)
    running = Running(context, lambda: FailingTask(context.config).run, first_pause_s=0.05)
    await until(lambda: running.status.condition is Condition.FAILED)
    assert running.status.error == "RuntimeError: out of luck"
    failing = [running.is_failing]
    await until(lambda: running.status.condition is Condition.DONE)
    failing.append(running.is_failing)
    assert failing == [True, False]
    assert running.status.restarts == 2
    await running.stop()


async def test_what_fails_by_a_cancelled_task_of_its_own_is_started_again_too(caplog: pytest.LogCaptureFixture) -> None:
    """Its CancelledError comes out of `await`; nobody has cancelled the resource's own task."""

    async def run(context: Context) -> None:
        helper = asyncio.create_task(asyncio.sleep(3600))
        helper.cancel()
        await helper

    running = Running(Context(task("b", 0), {}, lambda: True), lambda: run, first_pause_s=3600)
    await until(lambda: running.status.condition is Condition.FAILED)
    assert running.status.error == "CancelledError"
    assert "failed; it is started again in 3600 s" in caplog.text
    await running.stop()


async def test_what_cannot_even_be_made_is_shown_too() -> None:
    context = Context(task("b", 0), {}, lambda: True)

    def make() -> NotingTask:
        raise KeyError("notes")

    running = Running(context, make)  # type: ignore[arg-type]
    await until(lambda: running.status.condition is Condition.FAILED)
    assert running.status.error == "KeyError: 'notes'"
    await running.stop()


async def test_what_stops_is_let_finish_however_often_it_is_told() -> None:
    """Also when what it does last fails: then it is not started again."""
    begun, may_end, finished = asyncio.Event(), asyncio.Event(), []

    async def run(context: Context) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await may_end.wait()
            finished.append(context.name)
            raise OSError("the disk is full")

    running = Running(Context(task("a", 0), {}, lambda: True), lambda: run)
    await begun.wait()
    running.cancel()
    stopping = asyncio.create_task(running.stop())
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.sleep(0)
    assert not stopping.done()
    assert running.status.condition is Condition.STOPPING
    may_end.set()
    await stopping
    assert finished == ["a-0"]


async def test_what_has_stopped_is_not_shown_as_stopping_though_nobody_waited_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A revocation is cancelled when the session ends meanwhile. What is shown as stopping may end the process."""
    runner = Runner(write(tmp_path / "file.toml", f'[a]\nclass = "{MODULE}:Noting"\ntasks = 2'), "127.0.0.1:1", "g")
    begun, may_end = [], asyncio.Event()

    async def run(context: Context) -> None:
        begun.append(context.name)
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()

    monkeypatch.setattr(runner, "_make", lambda resource, config: run)
    await runner.on_assigned(resources("a-0 a-1"))
    await until(lambda: len(begun) == 2)
    revoking = asyncio.create_task(runner.on_revoked(resources("a-0 a-1")))
    await until(lambda: len(runner.statuses()) == 2 and not runner._running)
    revoking.cancel()
    await asyncio.wait([revoking])
    assert [each.condition for each in runner.statuses()] == [Condition.STOPPING] * 2
    losing = asyncio.create_task(runner.on_lost(resources("a-0 a-1")))
    may_end.set()
    await losing
    await until(lambda: runner.statuses() == [])


@asynccontextmanager
async def runners(kcoord: Kcoord, group: str, file: Path, count: int) -> AsyncIterator[list[Runner]]:
    """So many, in this process; they leave at the end."""
    stop = asyncio.Event()
    made = [Runner(file, kcoord.bootstrap, group, url=f"http://{number}") for number in range(count)]
    async with asyncio.TaskGroup() as tasks:
        for each in made:
            tasks.create_task(each.run(stop))
        try:
            yield made
        finally:
            stop.set()


async def test_workers_share_the_connectors_of_a_file_and_follow_its_changes(
    kcoord: Kcoord, group: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """CG-21, CG-31"""
    notes = tmp_path / "notes"
    file = tmp_path / "connectors.toml"

    def table(tasks: int, say: str) -> str:
        return f'[a]\nclass = "{MODULE}:Noting"\nnotes = "{notes}"\ntasks = {tasks}\nsay = "{say}"\n'

    def running(say: str) -> list[str]:
        found: set[str] = set()
        for line in notes.read_text().splitlines() if notes.exists() else ():
            _, _, what, name, *said = line.split(" ")
            if said == [say]:
                (found.add if what == "start" else found.discard)(name)
        return sorted(found)

    write(file, table(3, "one"))
    async with AsyncExitStack() as stack:
        first, second = await stack.enter_async_context(runners(kcoord, group, file, 2))
        await until(lambda: running("one") == ["a", "a-0", "a-1", "a-2"])
        await until(lambda: bool(first.statuses()) and bool(second.statuses()))
        write(file, table(5, "two"))
        await until(lambda: running("two") == ["a", "a-0", "a-1", "a-2", "a-3", "a-4"] and running("one") == [])
        write(file, "[a")
        await until(lambda: caplog.text.count("not valid TOML") == 2)
        assert len(first.statuses()) + len(second.statuses()) == 6
        write(file, table(0, "three"))
        await until(lambda: running("three") == ["a"] and running("two") == [])
    assert running("three") == []


async def test_a_task_that_fails_is_seen_by_who_looks_at_the_group(
    kcoord: Kcoord, group: str, observer: Observer, tmp_path: Path
) -> None:
    FailingTask.failures = 0
    file = write(tmp_path / "connectors.toml", f'[b]\nclass = "{MODULE}:Failing"\ntimes = 1_000_000')
    async with runners(kcoord, group, file, 1):
        while [each.trouble for each in (await observer.describe()).members] != [
            "tasks: b-0 failed: RuntimeError: out of luck"
        ]:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("kcoord", [OWN], indirect=True)
def test_a_process_ends_whose_task_does_not_stop_when_others_may_run_it(
    kcoord: Kcoord, group: str, tmp_path: Path
) -> None:
    """CG-8: the last thing that a library can do."""
    notes = tmp_path / "notes"
    file = write(tmp_path / "connectors.toml", f'[a]\nclass = "{MODULE}:Stubborn"\nnotes = "{notes}"')
    command = [sys.executable, "-m", "kcoord", "worker", str(file), "--group", group]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--bootstrap-server", kcoord.bootstrap], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        eventually(lambda: notes.exists() and "start a-0" in notes.read_text(), "the task runs")
        kcoord.kill()
        assert process.wait(60) == 75
    finally:
        process.kill()
        process.wait()
    assert "refuses a-0" in notes.read_text()
    assert "the session has ended and these run on: a-0; the process ends" in (tmp_path / "log").read_text()

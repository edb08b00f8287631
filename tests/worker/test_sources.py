"""Which Python class runs what stands in Connect's configuration topic, and what follows from what is said there then?

On what has been read, without a Kafka; with one, and beside Java workers, in `test_config_beside_java.py`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from kcoord.worker.config_topic.records import Restart
from kcoord.worker.config_topic.state import ConfigState, ConnectConfig
from kcoord.worker.runner import Classes, DefinitionError, Runner, TopicSource
from kcoord.worker.runner.running import Condition
from tests.worker.connectors import Noting, Stubborn
from tests.worker.driver import resources

MODULE = "tests.worker.connectors"


class Written:
    """What stands in for the topic: what has been read of it."""

    name = "written"

    def __init__(self) -> None:
        self.state = ConfigState()
        self.restarts: list[Restart] = []
        self.next = 0

    def put(self, key: str, value: object = None) -> Written:
        data = None if value is None else json.dumps(value).encode()
        self.state.take(self.next, key.encode(), data)
        self.next += 1
        return self

    def connector(self, name: str, tasks: int = 0, **properties: Any) -> Written:
        """`python_class` for `python.class`."""
        named = {key.replace("_", "."): value for key, value in properties.items()}
        config = {"properties": {"connector.class": "Java"} | named}
        self.put(f"connector-{name}", config)
        for task in range(tasks):
            self.put(f"task-{name}-{task}", config)
        return self.put(f"commit-{name}", {"tasks": tasks})

    @property
    def config(self) -> ConnectConfig:
        return self.state.snapshot()

    def configured(self) -> None:
        """Not asked here."""

    async def open(self) -> None:
        """It is."""

    async def close(self) -> None:
        """It is."""

    async def catch_up(self) -> bool:
        return True

    def take_restarts(self) -> list[Restart]:
        taken, self.restarts = self.restarts, []
        return taken


def source(topic: Written, by_class: Mapping[str, str] | None = None, default: str | None = None) -> TopicSource:
    return TopicSource(topic, Classes(by_class or {}, default))  # type: ignore[arg-type]


def test_a_configurations_own_class_goes_before_that_of_its_java_class_and_that_before_the_one_for_all() -> None:
    topic = (
        Written()
        .connector("own", python_class=f"{MODULE}:Stubborn")
        .connector("mapped")
        .put("connector-other", {"properties": {"connector.class": "Else"}})
    )
    found = source(topic, {"Java": f"{MODULE}:Noting"}, f"{MODULE}:Failing").look().connectors
    assert {name: getattr(each.connector, "__name__", None) for name, each in found.items()} == {
        "own": "Stubborn",
        "mapped": "Noting",
        "other": "Failing",
    }
    assert found["own"].connector is Stubborn
    assert found["mapped"].connector is Noting


@pytest.mark.parametrize(
    ("properties", "trouble"),
    [
        ({}, "connector.class=Java is not Python: give its configuration a python.class=module:Class, or start"),
        ({"python_class": "nowhere:A"}, "class nowhere:A: No module named 'nowhere'"),
        ({"python_class": f"{MODULE}:NotingTask"}, f"class {MODULE}:NotingTask: module {MODULE} has no such Connector"),
    ],
)
def test_what_no_class_runs_is_there_all_the_same(properties: dict[str, Any], trouble: str) -> None:
    definitions = source(Written().connector("a", tasks=1, **properties)).look()
    assert definitions.resources == resources("a a-0")
    assert definitions.connectors["a"].trouble.startswith(trouble)


def test_a_class_that_is_named_to_the_command_and_is_not_there_is_an_error() -> None:
    with pytest.raises(DefinitionError, match="class nowhere:A"):
        Classes({"Java": "nowhere:A"}).check()


def test_what_has_not_changed_is_the_same_object() -> None:
    topic = Written().connector("a", 1)
    read = source(topic, default=f"{MODULE}:Noting")
    first = read.look()
    assert read.look() is first
    topic.connector("b")
    second = read.look()
    assert second.connectors["a"] is first.connectors["a"]
    assert second.offset > first.offset


async def test_paused_connectors_and_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at Java workers: what is paused is kept without running; restarts are of tasks too, or of failures only."""
    topic = Written().connector("a", 2)
    runner = Runner(source(topic, default=f"{MODULE}:Noting"), "localhost:1", "g")
    monkeypatch.setattr(runner.worker, "configured_changed", lambda: None)
    notes: list[str] = []
    monkeypatch.setattr(f"{MODULE}._note", lambda config, what, context: notes.append(f"{what} {context.name}"))

    async def settled() -> list[str]:
        runner._configured()
        for _ in range(20):
            await asyncio.sleep(0)
        told, notes[:] = notes[:], []
        return sorted(told)

    await runner.on_assigned(resources("a a-0 a-1"))
    assert await settled() == ["start a", "start a-0", "start a-1"]
    topic.put("target-state-a", {"state": "PAUSED"})
    assert await settled() == ["stop a", "stop a-0", "stop a-1"]
    assert {each.condition for each in runner.statuses()} == {Condition.PAUSED}
    topic.put("target-state-a", {"state": "STARTED"})
    assert await settled() == ["start a", "start a-0", "start a-1"]
    topic.restarts.append(Restart("a", include_tasks=False, only_failed=False))
    assert await settled() == ["start a", "stop a"]
    topic.restarts.append(Restart("a", include_tasks=True, only_failed=False))
    assert await settled() == ["start a", "start a-0", "start a-1", "stop a", "stop a-0", "stop a-1"]
    topic.restarts.append(Restart("a", include_tasks=True, only_failed=True))
    assert await settled() == []
    await runner.on_revoked(resources("a a-0 a-1"))


async def test_tasks_configured_anew_are_the_rounds_where_there_are_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configuration changes keep a barrier with the classic protocol; with the other each worker does it for itself."""
    for protocol, anew in (
        ("connect", ["start a", "start a-0", "stop a", "stop a-0"]),
        ("classic", ["start a", "stop a"]),
    ):
        topic = Written().connector("a", 1, say="one")
        runner = Runner(source(topic, default=f"{MODULE}:Noting"), "localhost:1", "g", group_protocol=protocol)
        notes: list[str] = []
        monkeypatch.setattr(
            f"{MODULE}._note", lambda config, what, context, notes=notes: notes.append(f"{what} {context.name}")
        )
        await runner.on_assigned(resources("a a-0"))
        await asyncio.sleep(0)
        notes.clear()
        topic.connector("a", 1, say="two")
        runner._configured()
        for _ in range(20):
            await asyncio.sleep(0)
        assert sorted(notes) == anew, protocol
        await runner.on_revoked(resources("a a-0"))

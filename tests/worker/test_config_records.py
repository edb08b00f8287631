"""What does Connect's configuration topic say, record by record and all together? Without a Kafka."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcoord.worker.config_topic.records import Restart, Target, Unreadable, read
from kcoord.worker.config_topic.state import ConfigState, ConnectConfig
from tests.worker.driver import resources

CLASS = {"connector.class": "X"}


class Topic:
    """A topic that is written to and read at once."""

    def __init__(self) -> None:
        self.state = ConfigState()
        self.next = 0

    def put(self, key: str, value: Any = None, schema: bool = False) -> Topic:
        data = None if value is None else json.dumps({"schema": {}, "payload": value} if schema else value).encode()
        return self.put_bytes(key.encode(), data)

    def put_bytes(self, key: bytes | None, value: bytes | None) -> Topic:
        self.next += 1
        self.state.take(self.next - 1, key, value)
        return self

    def connector(self, name: str, **properties: str) -> Topic:
        return self.put(f"connector-{name}", {"properties": CLASS | properties})

    def tasks(self, name: str, *numbers: int, commit: int | None = None, **properties: str) -> Topic:
        for number in numbers:
            self.put(f"task-{name}-{number}", {"properties": CLASS | properties})
        return self.put(f"commit-{name}", {"tasks": len(numbers) if commit is None else commit})

    def config(self) -> ConnectConfig:
        return self.state.snapshot()


def test_connectors_and_their_committed_tasks_are_what_there_is() -> None:
    topic = Topic().connector("a").tasks("a", 0, 1, path="/1").connector("b")
    assert topic.config().resources == resources("a a-0 a-1 b")
    assert topic.config().offset == 5
    assert topic.config().connectors["a"].tasks == ({**CLASS, "path": "/1"},) * 2
    assert topic.config().connectors["b"].properties == CLASS


def test_before_anything_is_read_the_offset_is_connects() -> None:
    assert (Topic().config().offset, Topic().config().resources) == (-1, frozenset())


def test_tasks_count_from_their_commit_on() -> None:
    topic = Topic().connector("a").tasks("a", 0, path="/1")
    topic.put("task-a-0", {"properties": {"path": "/2"}}).put("task-a-1", {"properties": {"path": "/2"}})
    assert topic.config().resources == resources("a a-0")
    assert topic.config().connectors["a"].tasks[0]["path"] == "/1"
    before = topic.config().revisions["a"]
    topic.put("commit-a", {"tasks": 2})
    assert topic.config().resources == resources("a a-0 a-1")
    assert topic.config().connectors["a"].tasks[0]["path"] == "/2"
    assert topic.config().revisions["a"] > before


def test_what_compaction_has_torn_apart_has_no_tasks_until_it_is_written_anew() -> None:
    """The commit of two tasks, of which the first was rewritten later, and its writer died before its commit."""
    topic = Topic().connector("a").tasks("a", 1, commit=2)
    assert not topic.config().connectors["a"].consistent
    assert topic.config().resources == resources("a")
    topic.put("task-a-0", {"properties": {}})
    assert topic.config().resources == resources("a")
    topic.tasks("a", 0, 1)
    assert topic.config().connectors["a"].consistent
    assert topic.config().resources == resources("a a-0 a-1")


def test_what_compaction_left_of_more_tasks_is_no_task() -> None:
    assert Topic().connector("a").tasks("a", 1, 0, commit=1).config().resources == resources("a a-0")


def test_a_deleted_connector_is_gone_with_its_tasks_and_what_is_left_of_one_is_nothing() -> None:
    topic = Topic().connector("a").tasks("a", 0).put("connector-a").put("target-state-a")
    assert (topic.config().resources, topic.config().offset) == (frozenset(), 5)
    left = Topic().tasks("gone", 0, 1)
    assert (left.config().resources, left.config().offset) == (frozenset(), 3)
    assert left.connector("gone").config().resources == resources("gone")


def test_a_stopped_connector_has_no_tasks_and_a_paused_one_has() -> None:
    topic = Topic().connector("a").tasks("a", 0).put("target-state-a", {"state": "PAUSED"})
    assert topic.config().connectors["a"].target is Target.PAUSED
    assert topic.config().resources == resources("a a-0")
    topic.put("target-state-a", {"state": "PAUSED", "state.v2": "STOPPED"}).tasks("a")
    assert topic.config().connectors["a"].target is Target.STOPPED
    assert topic.config().resources == resources("a")
    topic.put("target-state-a")
    assert topic.config().connectors["a"].target is Target.STARTED


def test_what_is_for_connects_workers_moves_the_offset_only() -> None:
    topic = Topic().connector("a")
    before = topic.config()
    topic.put("session-key", {"key": "a2V5", "algorithm": "HmacSHA256", "creation-timestamp": 1})
    topic.put("tasks-fencing-a", {"task-count": 3}).put("logger-cluster-org", {"level": "INFO"})
    assert topic.config().offset == 4
    assert topic.config().resources is before.resources
    assert topic.config().connectors is before.connectors


def test_restarts_are_kept_until_they_are_fetched() -> None:
    topic = Topic().connector("a").put("restart-connector-a", {"include-tasks": True, "only-failed": False})
    assert topic.state.restarts == [Restart("a", include_tasks=True, only_failed=False)]


def test_schemas_are_looked_through() -> None:
    topic = Topic().put("connector-a", {"properties": CLASS}, schema=True)
    topic.put("task-a-0", {"properties": CLASS}, schema=True).put("commit-a", {"tasks": 1}, schema=True)
    assert topic.config().resources == resources("a a-0")


@pytest.mark.parametrize("name", ["a-b", "a-1", "-", "a-", "ü", "commit-x", "a\nb"])
def test_names_may_look_like_keys(name: str) -> None:
    topic = Topic().connector(name).tasks(name, 0)
    assert topic.config().resources == {(name, -1), (name, 0)}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (None, b"{}", "it has no key"),
        (b"nonsense", b"{}", "Connect writes no such key"),
        (b"connector-", b'{"properties": {}}', "its key names no connector"),
        (b"connector-a", b"[]", "its value is list, and is to be an object"),
        (b"connector-a", b"{}", "its value has no properties"),
        (b"connector-a", b'{"properties": {"a": 1}}', "property a is 1, and is to be a text"),
        (b"task-a", b'{"properties": {}}', "its key is to end with the connector's name and the task's number"),
        (b"task-a-x", b'{"properties": {}}', "its key is to end with the connector's name and the task's number"),
        (b"task-a-2147483648", b'{"properties": {}}', "its key is to end with"),
        (b"task-a-0", None, "its value is null, and is to be an object"),
        (b"commit-a", b'{"tasks": "2"}', "tasks is '2', and is to be a count"),
        (b"commit-a", b'{"tasks": -1}', "tasks is -1, and is to be a count"),
        (b"commit-a", b'{"tasks": true}', "tasks is True, and is to be a count"),
        (b"commit-a", None, "its value is null, and is to be an object"),
        (b"target-state-a", b'{"state": "ASLEEP"}', "state is 'ASLEEP', and is to be one of STARTED, PAUSED, STOPPED"),
        (b"target-state-a", b"{}", "state is None, and is to be one of"),
        (b"restart-connector-a", None, "its value is null, and is to be an object"),
    ],
)
def test_what_cannot_be_read_is_left_out_and_says_why(key: bytes | None, value: bytes | None, why: str) -> None:
    topic = Topic().connector("a").tasks("a", 0)
    with pytest.raises(Unreadable, match=f"^{why}"):
        topic.put_bytes(key, value)
    assert topic.config().resources == resources("a a-0")
    assert topic.config().offset == topic.next, "Connect counts it"


@pytest.mark.parametrize("value", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_does_not_move_the_offset(value: bytes) -> None:
    """As with Connect's converter: whoever counted it would be ahead of Connect's own workers."""
    topic = Topic().connector("a")
    with pytest.raises(Unreadable, match=r"^its value is not valid JSON: "):
        topic.put_bytes(b"connector-a", value)
    assert topic.config().offset == 1
    assert topic.connector("b").config().offset == 3


def test_a_property_may_be_null() -> None:
    assert read(b"connector-a", b'{"properties": {"a": null}}').properties == {"a": None}  # type: ignore[union-attr]

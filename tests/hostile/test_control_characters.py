"""What clients call themselves never reaches a terminal or a log line as it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from typer.testing import CliRunner, Result

from kcoord.cli import app
from tests.connectgroups.worker import Worker
from tests.gateway.scripted import ScriptedMember, ask, connect
from tests.kafka.kcoord_process import Kcoord

EVIL = "\x1b]0;owned\x07\x1b[2J\r\n2026-01-01 00:00:00,000 INFO kcoord: all is well\x9b\u202e"
"""It retitles the terminal, clears it, begins a line of its own, and turns the direction of reading round."""
SHOWN = r"\x1b]0;owned\x07\x1b[2J\r\n2026-01-01 00:00:00,000 INFO kcoord: all is well\x9b\u202e"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]|^2026-01-01", re.MULTILINE)


class EvilClient(ScriptedMember):
    """A member whose names are all evil."""

    @classmethod
    async def joined(cls, kcoord: Kcoord) -> EvilClient:
        member = cls(await connect(kcoord.bootstrap), f"classic{EVIL}", protocol_type=f"t{EVIL}", protocol=f"p{EVIL}")
        member.instance = f"instance{EVIL}"
        member.client.client_id = f"client{EVIL}"
        await member.join_and_sync()
        return member


async def evil_worker(kcoord: Kcoord) -> Worker:
    """A worker of a connect group, with connectors, an id and a url of that kind."""
    worker = Worker(await connect(kcoord.bootstrap), f"connect{EVIL}", member_id=f"member{EVIL}")
    configured = frozenset({(f"connector{EVIL}", -1), (f"connector{EVIL}", 0)})
    answer = await worker.ask(worker.join_request(configured, url=f"http://{EVIL}", instance_id=f"static{EVIL}"))
    assert not answer.error_code, answer.error_message
    await worker.heartbeat()
    return worker


async def run(*arguments: object) -> Result:
    """A command in this process, which is a third of what it takes in one of its own."""
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, [str(each) for each in arguments]))


async def test_logs_and_tables_show_control_characters_as_escapes(start_kcoord: Callable[..., Any]) -> None:
    kcoord: Kcoord = start_kcoord("alone", log_level="DEBUG")
    await EvilClient.joined(kcoord)
    worker = await evil_worker(kcoord)
    stranger = EvilClient(await connect(kcoord.bootstrap), f"classic{EVIL}", member_id=f"unknown{EVIL}", generation=3)
    await stranger.heartbeat()
    await ask(worker.client, worker.request(instance_id=f"another{EVIL}"))
    at = ("--bootstrap-server", kcoord.bootstrap)
    shown = [
        await run("groups", "list", *at),
        await run("groups", "describe", f"classic{EVIL}", f"connect{EVIL}", *at),
        await run("groups", "explain", f"connect{EVIL}", *at),
        await run("groups", "delete", f"classic{EVIL}", f"missing{EVIL}", *at),
        await run("groups", "describe", f"missing{EVIL}", *at),
        await run("config", "describe", f"connect{EVIL}", *at),
        await run("config", "set", f"connect{EVIL}", f"connect.max{EVIL}=3", *at),
        await run("log", "dump", "--data-dir", kcoord.data),
        await run("log", "verify", "--data-dir", kcoord.data),
    ]
    for outcome in shown:
        assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.exception
        assert outcome.output
        assert not CONTROL.findall(outcome.output), outcome.output
    assert f"classic{SHOWN}" in shown[0].output
    for name in ("classic", "connect", "connector", "instance", "client", "http://"):
        assert f"{name}{SHOWN}" in shown[1].output
    assert f"member{SHOWN}" in shown[2].output
    log = kcoord.log.read_text()
    assert f"classic{SHOWN}" in log
    assert f"connect{SHOWN}" in log
    assert not CONTROL.findall(log)

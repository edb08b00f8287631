"""The start screen of `kcoord serve`: what it is, where it listens, and what to try next."""

import os
import shlex
import sys
from pathlib import Path

from kcoord import __version__
from kcoord.settings_sources import WILDCARD_HOSTS, Settings


def start_screen(settings: Settings) -> str:
    """The screen as text. Its commands can be pasted into another terminal."""
    listen = address_text(*settings.listen)
    facts = {
        "listening": listen + (" (TLS)" if settings.ssl_certificate_location else ""),
        "advertised": address_text(*settings.advertise) if settings.advertise else "",
        "cluster": ", ".join(address_text(*address) for address in settings.upstream),
        "groups": ", ".join(settings.groups) if settings.upstream else "all",
        "records": _records(settings),
        "instance": str(settings.instance_id) if settings.log == "kafka" else "",
    }
    role = "in front of a cluster" if settings.upstream else "alone"
    lines = [f"kcoord {__version__}: coordinating groups, {role}"]
    lines += [f"  {name:<11}{fact}" for name, fact in facts.items() if fact]
    lines += ["", "Try next, in another terminal:"]
    for command, what in _commands(settings):
        lines += [f"  {what}", f"    {command}"]
    return "\n".join([*lines, "", "Stop with Ctrl-C."])


def _records(settings: Settings) -> str:
    if settings.log == "embedded":
        return str(settings.data_dir)
    return f"topic {settings.log_topic} at " + ", ".join(address_text(*address) for address in settings.log_brokers)


def _commands(settings: Settings) -> list[tuple[str, str]]:
    host, port = settings.advertise or settings.listen
    address = address_text("localhost" if host in WILDCARD_HOSTS else host, port)
    kcoord = command_name()
    at = f"--bootstrap-server {address}"
    if settings.upstream:
        return [
            (f"kafka-console-consumer.sh {at} --topic TOPIC --group GROUP", "run a consumer, as before:"),
            (f"{kcoord} groups list {at}", "list all groups, kcoord's and the cluster's:"),
            (f"{kcoord} groups describe GROUP {at}", "show who is in a group:"),
        ]
    return [
        (f"{kcoord} groups list {at}", "list the groups:"),
        (f"kafka-groups.sh {at} --list", "the same with Kafka's own tool:"),
        (
            f"{kcoord} serve --listen localhost:9192 --upstream HOST:PORT --groups '.*'",
            "run in front of your cluster instead:",
        ),
    ]


def command_name() -> str:
    """The command that started this kcoord, so that a command shown works where it is pasted."""
    started = Path(sys.argv[0])
    if started.name != "__main__.py":
        return started.name
    python = Path(sys.executable)
    here = Path.cwd()
    shown = os.path.relpath(python, here) if python.is_relative_to(here) else str(python)
    return f"{shlex.quote(shown)} -m kcoord"


def address_text(host: str, port: int) -> str:
    """`host:port`, as options write it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

"""`kcoord settings`: all settings, as a list to read or as the page `docs/configuration.md`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_HEAD = """<!-- Written by `kcoord settings --markdown` from kcoord/settings.py. Do not edit. -->
# Configuration

This page lists every setting of `kcoord serve`. You can give a setting in three ways:

- on the command line: `-o name=value`. Some settings also have a flag, which `kcoord serve --help` shows.
- in the environment: `KCOORD_` and the name in capitals, with underscores for dots, for example
  `KCOORD_GROUP_MAX_SIZE`.
- in a TOML file: `--config FILE`. Names stand in quotes, for example `"group.max.size" = 500`.

The command line takes precedence over the environment, and the environment over the file. If a name does not exist, or
if a value is not allowed, kcoord does not start. The error says what is wrong, and names the nearest name that exists.

Where Apache Kafka has the same setting, kcoord uses Kafka's name. Some settings can also be changed
[for one group](group-settings.md), while kcoord runs.

## Passwords, secrets and certificates

You can put a secret (its name ends in `password` or `secret`) into a file that contains nothing else. Add `.file` to
the name, and give the path: `"internal.secret.file" = "/run/secrets/kcoord"`, or `KCOORD_INTERNAL_SECRET_FILE`. Do not
give a secret with `-o`: every user of the machine can read command lines. kcoord warns of such a secret.

**To change a secret or a certificate, restart kcoord.** kcoord reads all of its settings, secrets and PEM files once,
when it starts. It does not notice that a file has changed. [Keep the sockets open](restart.md) during the restart, or
restart [several instances](instances.md#when-to-go-on) one after the other.

| what you change | what to do |
| --- | --- |
| a client's password at the cluster behind kcoord | nothing: clients log in to the cluster itself |
| kcoord's password for the log (`log.sasl.password`) | give kcoord's user a new password in the cluster, then restart kcoord at once. Open connections normally stay open, but a new connection needs the new password. To avoid any gap, make a second user with [the same rights](log.md#what-its-user-may-do), and change `log.sasl.username` as well |
| kcoord's token for the log (OAUTHBEARER) | nothing: kcoord asks your token provider at each new connection |
| kcoord's certificates (`ssl.…`, `log.ssl.…`, `upstream.ssl.…`) | replace the files, then restart kcoord before the old certificate expires |
| the certificates between instances (`internal.ssl.…`) | the same. To change the authority, first give all instances a file that contains the old and the new authority, then the new certificates, then a file with the new authority alone |
| `internal.secret` | give all instances the new secret, and restart them quickly one after the other. Until all have it, an instance with the old secret and one with the new secret refuse each other's connections. Calls that one of them would pass to the other get NOT_COORDINATOR, and clients try again |
"""  # noqa: E501


def settings(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/configuration.md.")] = False,
) -> None:
    """List all settings with their defaults and meanings."""
    print("".join(_page() if markdown else _list()), end="")


def _list() -> Iterator[str]:
    import textwrap

    from kcoord.settings_sources import SECTIONS, setting_name

    for section in SECTIONS:
        yield f"{section.__doc__}\n\n"
        for field, info in section.model_fields.items():
            yield f"  {setting_name(field)} = {_default(info)}{_unit(info)}\n"
            yield textwrap.fill(str(info.description), 100, initial_indent="      ", subsequent_indent="      ") + "\n"
        yield "\n"


def _page() -> Iterator[str]:
    from kcoord.settings_sources import SECTIONS, setting_name

    yield _HEAD
    for section in SECTIONS:
        yield f"\n## {section.__doc__}\n\n| setting | type | default | meaning |\n| --- | --- | --- | --- |\n"
        for field, info in section.model_fields.items():
            cells = (f"`{setting_name(field)}`", _type(info), _default(info, "`") + _unit(info), str(info.description))
            yield f"| {' | '.join(cells)} |\n"


def _unit(info: "FieldInfo") -> str:
    extra = info.json_schema_extra
    return f" {extra['unit']}" if isinstance(extra, dict) and "unit" in extra else ""


def _default(info: "FieldInfo", quote: str = "") -> str:
    match info.default:
        case None | () | {}:
            return "none"
        case (str(host), int(port)):
            return f"{quote}{host}:{port}{quote}"
        case (str(), *_) as words:
            return f"{quote}{','.join(words)}{quote}"
        case bool(value):
            return f"{quote}{str(value).lower()}{quote}"
        case value:
            return f"{quote}{value}{quote}"


def _type(info: "FieldInfo") -> str:
    return _type_name(info.annotation)


_TYPE_NAMES: dict[Any, str] = {int: "number", bool: "`true` or `false`", str: "text", tuple[str, int]: "HOST:PORT"}


def _type_name(kind: Any) -> str:
    from pathlib import Path
    from typing import Annotated, Literal

    parts = [part for part in get_args(kind) if part not in (type(None), ...)]
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind]
    if kind is Path:
        return "path"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{part}`" for part in parts if part) + (" or empty" if "" in parts else "")
    if get_origin(kind) is dict:
        return "BROKER=PORT,…" if parts[0] is int else "TOPIC:PARTITIONS,…"
    if get_origin(kind) is tuple:
        return "list of " + _type_name(parts[0])
    if get_origin(kind) is Annotated or len(parts) >= 1:
        return _type_name(parts[0])
    return "text"

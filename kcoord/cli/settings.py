"""`kcoord settings`: all settings, as a list to read or as the page `docs/configuration.md`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_HEAD = """<!-- Written by `kcoord settings --markdown` from kcoord/settings.py. Do not edit. -->
# Configuration

A setting is given

- on the command line: `-o name=value`, or by a flag where `kcoord serve --help` names one,
- in the environment: `KCOORD_` and the name in capitals, underscores for dots, such as `KCOORD_GROUP_MAX_SIZE`,
- in a TOML file: `--config FILE`, names in quotes, such as `"group.max.size" = 500`.

A secret (its name ends in `password` or `secret`) can be given by a file that holds nothing else: add `.file` to the
name and give the path, as in `"internal.secret.file" = "/run/secrets/kcoord"` or `KCOORD_INTERNAL_SECRET_FILE`. Every
user of a machine can read command lines, so kcoord warns of a secret that is given by `-o`.

The command line beats the environment, the environment beats the file, the file beats the default. A name that does
not exist, or a value that does not fit, is refused with the nearest name that does.

Where Apache Kafka has the same setting, its name is Kafka's.
"""


def settings(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/configuration.md.")] = False,
) -> None:
    """List all settings with their defaults and meanings."""
    print("".join(_page() if markdown else _list()), end="")


def _list() -> Iterator[str]:
    import textwrap

    from kcoord.config import SECTIONS, setting_name

    for section in SECTIONS:
        yield f"{section.__doc__}\n\n"
        for field, info in section.model_fields.items():
            yield f"  {setting_name(field)} = {_default(info)}{_unit(info)}\n"
            yield textwrap.fill(str(info.description), 100, initial_indent="      ", subsequent_indent="      ") + "\n"
        yield "\n"


def _page() -> Iterator[str]:
    from kcoord.config import SECTIONS, setting_name

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
        return "BROKER=PORT,…"
    if get_origin(kind) is tuple:
        return "list of " + _type_name(parts[0])
    if get_origin(kind) is Annotated or len(parts) >= 1:
        return _type_name(parts[0])
    return "text"

"""What stands in ``kcoord/protocol/messages.py``? Every message, and the facts of every API of Kafka, by API key."""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from schemas.generator.model import SCHEMAS, MessageSpec, Versions, snake_case, unassigned

NEVER = 32767
WIDTH = 120
"""Of a line."""


@attrs.frozen
class Api:
    """An API of Kafka, decoded by us or not, or one of our own."""

    key: int
    name: str
    valid: Versions
    flexible: Versions


def load_apis(folder: Path = SCHEMAS) -> list[Api]:
    """Kafka's APIs, from ``schemas/apis.json``."""
    return [
        Api(each["key"], each["name"], Versions.parse(each["validVersions"]), Versions.parse(each["flexibleVersions"]))
        for each in json.loads((folder / "apis.json").read_text())
    ]


def own_apis(messages: list[MessageSpec]) -> list[Api]:
    """The APIs whose keys nobody has assigned, from ``schemas/unassigned.json``, in the versions of their schemas."""
    requests = {m.api_key: m for m in messages if m.type == "request"}
    found = [(each["name"], requests[each["key"]]) for each in unassigned()["apis"]]
    return [Api(request.api_key, name, request.valid, request.flexible) for name, request in found]


def numbers() -> str:
    """The text of ``unassigned.py``: a constant for each number that nobody has assigned."""
    own = unassigned()
    lines = [
        "# Generated from schemas/unassigned.json by `python -m schemas.generator`. Do not edit.",
        '"""Which API keys and error codes has nobody assigned? Those of the protocols that no broker speaks yet."""',
        "",
        *(f"{snake_case(each['name']).upper()} = {each['key']}" for each in own["apis"]),
        "",
        *(f"{each['name']} = {each['code']}" for each in own["errors"]),
    ]
    return "\n".join(lines) + "\n"


def index(messages: list[MessageSpec], kafkas: list[Api]) -> str:
    """The text of ``messages.py``."""
    wire = [m for m in messages if m.type in ("request", "response")]
    own = own_apis(messages)
    apis = [*kafkas, *own]
    lines = [
        "# Generated from schemas/ by `python -m schemas.generator`. Do not edit.",
        '"""Messages: every request and response, and by API key their names, versions and classes.',
        "",
        "``REQUESTS`` and ``RESPONSES`` hold what kcoord can decode. ``API_NAMES``, ``API_VERSIONS`` and",
        "``FLEXIBLE_FROM`` hold every API of Kafka 4.3, also those that are only passed on, and those of ``OWN_APIS``,",
        "which no Kafka has.",
        "",
        "A class is imported when its name is first asked for, and all of them with ``REQUESTS`` or ``RESPONSES``: a",
        "command that asks three questions does not wait for the classes of sixty.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from functools import cache",
        "from importlib import import_module",
        "from typing import TYPE_CHECKING, Any",
        "",
        "from kcoord.protocol.message_base import Message, Request, Response",
        "",
        "if TYPE_CHECKING:",
    ]
    for m in wire:
        lines += _imported(m)
    lines += ["", "    REQUESTS: dict[int, type[Request]]", "    RESPONSES: dict[int, type[Response]]", ""]
    facts = ["API_NAMES", "API_VERSIONS", "FLEXIBLE_FROM", "OWN_APIS", "REQUESTS", "RESPONSES"]
    exported = [
        *facts,
        *sorted([*(m.name for m in wire), "Message", "Request", "Response"]),
        "api_name",
        "response_class",
    ]
    lines += ["__all__ = [", *(f'    "{name}",' for name in exported), "]", ""]
    by_key = sorted(wire, key=lambda m: m.api_key)
    lines += ["_TABLES: dict[str, dict[int, str]] = {"]
    for title, kind in (("REQUESTS", "request"), ("RESPONSES", "response")):
        lines += [f'    "{title}": {{']
        lines += [*(f'        {m.api_key}: "{m.name}",' for m in by_key if m.type == kind), "    },"]
    lines += ["}", "_MODULES = {", *(f'    "{m.name}": "{m.module}",' for m in wire), "}", ""]
    lines += ["API_NAMES: dict[int, str] = {", *(f'    {api.key}: "{api.name}",' for api in apis), "}", ""]
    lines += [f"OWN_APIS = frozenset({{{', '.join(str(api.key) for api in own)}}})"]
    lines += ['"""The keys of APIs that Kafka has not; see ``schemas/unassigned.json``."""', ""]
    lines += ["API_VERSIONS: dict[int, tuple[int, int]] = {"]
    lines += [f"    {api.key}: ({api.valid.lowest}, {api.valid.highest})," for api in apis if api.valid]
    lines += ["}", '"""The lowest and highest version of each API."""', ""]
    lines += ["FLEXIBLE_FROM: dict[int, int] = {"]
    lines += [f"    {api.key}: {api.flexible.lowest if api.flexible else NEVER}," for api in apis]
    lines += ["}", f'"""The first version whose headers and body are flexible (KIP-482); {NEVER}: none is."""', "", ""]
    lines += [
        "def api_name(key: int) -> str:",
        '    """Kafka\'s name of an API, e.g. "JoinGroup"; "API 123" for a number that is unknown."""',
        '    return API_NAMES.get(key) or f"API {key}"',
        "",
        "",
        "@cache",
        "def response_class(key: int) -> type[Response]:",
        '    """How requests of this API are answered. Raises KeyError where kcoord decodes none."""',
        '    found: type[Response] = _imported(_TABLES["RESPONSES"][key])',
        "    return found",
        "",
        "",
        "def __getattr__(name: str) -> object:",
        '    """A class, or a table of all, that is asked for the first time (PEP 562)."""',
        "    found: object",
        "    if name in _TABLES:",
        "        found = {key: _imported(each) for key, each in _TABLES[name].items()}",
        "    elif name in _MODULES:",
        "        found = _imported(name)",
        "    else:",
        '        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
        "    return globals().setdefault(name, found)",
        "",
        "",
        "def _imported(name: str) -> Any:",
        '    return getattr(import_module(f"kcoord.protocol.generated.{_MODULES[name]}"), name)',
    ]
    return "\n".join(lines) + "\n"


def _imported(message: MessageSpec) -> list[str]:
    """How the class is imported, as ruff would write it."""
    start = f"    from kcoord.protocol.generated.{message.module} import "
    if len(start) + len(message.name) <= WIDTH:
        return [start + message.name]
    return [f"{start}(", f"        {message.name},", "    )"]

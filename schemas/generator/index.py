"""What stands in ``kcoord/protocol/messages.py``? Every message, and the facts of every API of Kafka, by API key."""

from __future__ import annotations

import json
from pathlib import Path

import attrs

from schemas.generator.model import SCHEMAS, MessageSpec, Versions

NEVER = 32767


@attrs.frozen
class Api:
    """An API of Kafka, decoded by us or not."""

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


def index(messages: list[MessageSpec], apis: list[Api]) -> str:
    """The text of ``messages.py``."""
    wire = [m for m in messages if m.type in ("request", "response")]
    lines = [
        "# Generated from schemas/ by `python -m schemas.generator`. Do not edit.",
        '"""Which messages are there? Every request and response, and by API key: names, versions, classes.',
        "",
        "``REQUESTS`` and ``RESPONSES`` hold what kcoord can decode. ``API_NAMES``, ``API_VERSIONS`` and",
        "``FLEXIBLE_FROM`` hold every API of Kafka 4.3, also those that are only passed on.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    lines += [f"from kcoord.protocol.generated.{m.module} import {m.name}" for m in wire]
    lines += ["from kcoord.protocol.message import Message, Request, Response", ""]
    facts = ["API_NAMES", "API_VERSIONS", "FLEXIBLE_FROM", "REQUESTS", "RESPONSES"]
    exported = [*facts, *sorted([*(m.name for m in wire), "Message", "Request", "Response"]), "api_name"]
    lines += ["__all__ = [", *(f'    "{name}",' for name in exported), "]", ""]
    for title, kind in (("REQUESTS", "request"), ("RESPONSES", "response")):
        lines.append(f"{title}: dict[int, type[{kind.capitalize()}]] = {{")
        lines += [f"    {m.api_key}: {m.name}," for m in sorted(wire, key=lambda m: m.api_key) if m.type == kind]
        lines += ["}", ""]
    lines += ["API_NAMES: dict[int, str] = {", *(f'    {api.key}: "{api.name}",' for api in apis), "}", ""]
    lines += ["API_VERSIONS: dict[int, tuple[int, int]] = {"]
    lines += [f"    {api.key}: ({api.valid.lowest}, {api.valid.highest})," for api in apis if api.valid]
    lines += ["}", '"""The lowest and highest version of each API in Kafka 4.3."""', ""]
    lines += ["FLEXIBLE_FROM: dict[int, int] = {"]
    lines += [f"    {api.key}: {api.flexible.lowest if api.flexible else NEVER}," for api in apis]
    lines += ["}", f'"""The first version whose headers and body are flexible (KIP-482); {NEVER}: none is."""', "", ""]
    lines += [
        "def api_name(key: int) -> str:",
        '    """Kafka\'s name of an API, e.g. "JoinGroup"; "API 123" for a number that is unknown."""',
        '    return API_NAMES.get(key) or f"API {key}"',
    ]
    return "\n".join(lines) + "\n"

"""Missing access rules (ACLs), as the command that adds them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from kcoord.address import Address

ANONYMOUS = "User:ANONYMOUS"
"""The principal of clients that neither log in nor show a certificate."""
BY_CERTIFICATE = "User:CN=…"
"""The subject of a certificate, which the cluster may map to another name."""

_PREFIX = re.compile(r"([\w-]*)\.[*+]")


def command(at: Sequence[Address], principal: str, operations: Sequence[str], *resource: str) -> str:
    """The command for an administrator of the cluster. `resource`: the options that name it."""
    bootstrap = ",".join(f"{host}:{port}" for host, port in at)
    granted = [word for each in operations for word in ("--operation", each)]
    return "kafka-acls.sh " + " ".join(
        shlex.quote(each)
        for each in ("--bootstrap-server", bootstrap, "--add", "--allow-principal", principal, *granted, *resource)
    )


def literal_prefix(pattern: str) -> str | None:
    """The prefix of all groups that a pattern of the form `connect-.*` matches. None for other patterns."""
    found = _PREFIX.fullmatch(pattern)
    return None if found is None else found[1]


def groups_of(pattern: str) -> list[str]:
    """The options that name all groups that a pattern matches. Empty if no options can."""
    prefix = literal_prefix(pattern)
    if prefix is None:
        return []
    return ["--group", prefix, "--resource-pattern-type", "prefixed"] if prefix else ["--group", "*"]

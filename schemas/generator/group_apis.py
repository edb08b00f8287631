"""The rows of kcoord's API table, as the protocol reference shows them.

Only this module of the generator imports kcoord, so the generator can write codecs while kcoord cannot be imported.
"""

from __future__ import annotations

from kcoord.group.api_handlers_and_rights import ALL_APIS, ApiRow, InFront, Writes

WRITES = {Writes.NEVER: "no", Writes.ALWAYS: "yes", Writes.NEWS: "if it says something new"}
IN_FRONT = {
    InFront.GUARDED: "kcoord, if the cluster allows the client to",
    InFront.COMPLETED: "the cluster; kcoord completes the answer for its own groups",
    InFront.CHECKED: "kcoord checks it, then the cluster",
    InFront.PASSED: "the cluster",
    InFront.NOT_OFFERED: "nobody: only kcoord itself sends it",
}


def group_apis() -> dict[int, tuple[str, ...]]:
    """For each API of the table, by API key: the right that it needs, whether it writes, how many groups it names,
    whether another instance may carry it out, and who carries it out in front of a cluster.
    """
    return {
        row.key: (
            "none" if row.right is None else row.right.name,
            WRITES[row.writes],
            _groups(row),
            "yes" if row.relayed else "no",
            IN_FRONT[row.in_front],
        )
        for row in ALL_APIS
    }


def _groups(row: ApiRow) -> str:
    if row.batch is not None:
        return "several"
    return "one" if row.names_one_group else "none: it is about all"

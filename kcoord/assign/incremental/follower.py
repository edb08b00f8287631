"""What does a Java worker run after an answer, and in which order does it report that?

It keeps a row: what it was assigned, before what it had and was not told to give up. A row changes its order whenever
it is written, an assignment by the leader, a report by the worker: first come the connectors themselves, in the order of
a Java `HashSet` of them; tasks come connector by connector, first those of these connectors, then those of others in the
order of their first tasks. The worker's own row is not changed by its report. (Connect's `WorkerCoordinator`,
`ConnectProtocol`, `ExtendedAssignment`; seen.)
"""  # noqa: E501

from __future__ import annotations

from kcoord.assign.incremental.hashing import copied
from kcoord.assign.incremental.model import Row, Share
from kcoord.assign.resource import CONNECTOR, Resource


def synced(row: Row, share: Share, newer_java: bool = False) -> Row:
    """The row of a worker that had `row` (under `default`: nothing) and got `share`. `newer_java` as in `hashing`."""
    return (*written(share.assigned, newer_java), *(resource for resource in row if resource not in share.revoked))


def written(row: Row, newer_java: bool = False) -> Row:
    """The order in which a row is read at the other end; a worker's report of its own is what `Worker.held` is."""
    names = [name for name, task in row if task == CONNECTOR]
    tasks: dict[str, list[Resource]] = {name: [] for name in copied(names, newer_java)}
    for resource in row:
        if resource[1] != CONNECTOR:
            tasks.setdefault(resource[0], []).append(resource)
    named = frozenset(names)
    connectors = [(name, CONNECTOR) for name in tasks if name in named]
    return (*connectors, *(resource for of_one in tasks.values() for resource in of_one))

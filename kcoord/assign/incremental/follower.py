"""What a Java worker runs after an answer, and the order in which it reports that.

The worker keeps a row: what it was assigned, then what it had and was not told to give up. A row changes its order each
time it is written, by the leader as an assignment or by the worker as a report. First come the connectors themselves,
in the order of a Java `HashSet` of them. Tasks come connector by connector: first those of these connectors, then those
of others in the order of their first tasks. The worker's report does not change its own row. (Connect's
`WorkerCoordinator`, `ConnectProtocol`, `ExtendedAssignment`; seen.)
"""

from __future__ import annotations

from kcoord.assign.incremental.hashing import copied
from kcoord.assign.incremental.model import Row, Share
from kcoord.resource import Resource, connector, connectors_among, tasks_among


def synced(row: Row, share: Share, newer_java: bool = False) -> Row:
    """The row of a worker that had `row` (under `default`: nothing) and got `share`. `newer_java` as in `hashing`."""
    return (*written(share.assigned, newer_java), *(resource for resource in row if resource not in share.revoked))


def written(row: Row, newer_java: bool = False) -> Row:
    """The order in which a row is read at the other end; `Worker.held` is a row that the worker has reported."""
    names = [resource.connector for resource in connectors_among(row)]
    tasks: dict[str, list[Resource]] = {name: [] for name in copied(names, newer_java)}
    for resource in tasks_among(row):
        tasks.setdefault(resource.connector, []).append(resource)
    named = frozenset(names)
    connectors = [connector(name) for name in tasks if name in named]
    return (*connectors, *(resource for of_one in tasks.values() for resource in of_one))

"""Node addresses in responses: where they are, by the schemas, and the one function that rewrites them (GW-2).

A struct names a node if it has a host, a port, and an identifier whose ``entityType`` is ``brokerId``. No response is
listed by hand. If a response gains such a struct in a later schema, it is rewritten as soon as the code is generated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from kcoord.protocol.layout import Field
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import RESPONSES

__all__ = ["NODE_ADDRESSES", "AddressMapper", "NodePath", "names_nodes", "rewrite_addresses"]

AddressMapper = Callable[[int, str, int], tuple[str, int]]
"""(node id, host, port) as upstream gives them → (host, port) for the client."""


@attrs.frozen(slots=True)
class NodePath:
    """The place of one kind of node address in a response."""

    path: tuple[str, ...]
    """The attributes that lead from the response to the struct; empty for the response itself. All elements of an array
    on the path count.
    """
    node_id: str
    host: str
    port: str
    versions: tuple[int, int]
    """The lowest and the highest version that have this address."""

    def is_in(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]


def rewrite_addresses(message: Response, version: int, mapper: AddressMapper) -> None:
    """Replace every node address in a decoded response by ``mapper``'s host and port. Node ids stay.

    An entry with a negative node id names no node (FindCoordinator's errors have -1) and is not changed.
    """
    for node_path in NODE_ADDRESSES.get(message.API_KEY, ()):
        if not node_path.is_in(version):
            continue
        for holder in _structs(message, node_path.path):
            node_id = getattr(holder, node_path.node_id)
            if node_id < 0:
                continue
            host, port = mapper(node_id, getattr(holder, node_path.host), getattr(holder, node_path.port))
            setattr(holder, node_path.host, host)
            setattr(holder, node_path.port, port)


def names_nodes(api_key: int, version: int) -> bool:
    """Whether a response of this API and version can hold the address of a node."""
    return any(node_path.is_in(version) for node_path in NODE_ADDRESSES.get(api_key, ()))


def _structs(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    if not path:
        yield value
        return
    found = getattr(value, path[0])
    for each in found if isinstance(found, list) else () if found is None else (found,):
        yield from _structs(each, path[1:])


def _node_paths(fields: tuple[Field, ...], path: tuple[str, ...]) -> Iterator[NodePath]:
    by_name = {field.name: field for field in fields}
    ids = [field for field in fields if field.entity == "brokerId" and field.kind == "int32" and not field.is_array]
    if "Host" in by_name and "Port" in by_name and ids:
        host, port = by_name["Host"], by_name["Port"]
        (node_id,) = (field for field in ids if field.versions == host.versions)
        yield NodePath(path, node_id.attribute, host.attribute, port.attribute, host.versions)
    for field in fields:
        if field.struct is not None:
            yield from _node_paths(field.struct.FIELDS, (*path, field.attribute))


NODE_ADDRESSES: dict[int, tuple[NodePath, ...]] = {
    api_key: paths for api_key, response in RESPONSES.items() if (paths := tuple(_node_paths(response.FIELDS, ())))
}
"""API key → places of node addresses, for every response that can name nodes."""

"""aiokafka's clients, changed so that every lost connection is a KafkaConnectionError.

When a broker dies, uvloop closes the connection a few turns of the event loop before aiokafka hears of it. A request in
between makes uvloop raise RuntimeError. A request on a connection that another task has just given up makes aiokafka
raise LookupError or AttributeError. aiokafka catches none of these errors. Then the task that refreshes the metadata
ends, all tasks that wait for metadata wait for ever, and closing the client raises the error again. So this module
turns these errors into a KafkaError.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.client import AIOKafkaClient, ConnectionGroup
from aiokafka.errors import KafkaConnectionError, KafkaError

_log = logging.getLogger(__name__)

_CLOSE_S = 2.0


class KafkaClient(AIOKafkaClient):  # type: ignore[misc]
    """A client of a Kafka cluster.

    A request or a refresh on a connection that has just been lost fails in the same way as on one that was lost long
    ago.
    """

    async def bootstrap(self) -> None:
        """Reach the cluster. Raises KafkaConnectionError."""
        with _loss_as_kafka_error():
            await super().bootstrap()

    async def ready(self, node_id: int, *, group: ConnectionGroup = ConnectionGroup.DEFAULT) -> bool:
        """Connect to a broker if needed. Returns whether there is a connection now. Raises KafkaConnectionError."""
        with _loss_as_kafka_error():
            return bool(await super().ready(node_id, group=group))

    async def send(self, node_id: int, request: Any, *, group: ConnectionGroup = ConnectionGroup.DEFAULT) -> Any:
        """The answer of a broker. Raises KafkaError, TimeoutError."""
        with _loss_as_kafka_error():
            return await super().send(node_id, request, group=group)

    async def _metadata_update(self, cluster_metadata: Any, topics: Any) -> bool:
        try:
            with _loss_as_kafka_error():
                return bool(await super()._metadata_update(cluster_metadata, topics))
        except KafkaConnectionError as error:
            _log.warning("the metadata could not be refreshed: %s", error)
            return False

    async def close_in_time(self) -> None:
        """Close all connections, within two seconds. An error on the way is logged."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self.close()
        except TimeoutError:
            pass
        except Exception:
            _log.exception("connections to Kafka were closed, but not in good order")


def admin_client(**arguments: Any) -> Any:
    """aiokafka's admin client with a `Client` inside. `arguments` are aiokafka's."""
    admin = AIOKafkaAdminClient(**arguments)
    admin._client = KafkaClient(**arguments)
    return admin


@contextlib.contextmanager
def _loss_as_kafka_error() -> Iterator[None]:
    try:
        yield
    except KafkaError:
        raise
    except (RuntimeError, LookupError, AttributeError) as error:
        raise KafkaConnectionError(f"the connection was lost: {error}") from error

"""The worker library: a program runs its share of a group's work. Its guide is docs/workers.md.

The protocol is a pure state machine, with asyncio around it.

Start at `membership` (the protocol of connect groups), then `worker` (what programs use), then `runner` (connectors and
tasks from a file).
"""

from kcoord.worker.configured import Configured
from kcoord.worker.listener import WorkerRebalanceListener
from kcoord.worker.worker import Worker, WorkerError

__all__ = ["Configured", "Worker", "WorkerError", "WorkerRebalanceListener"]

"""How are connectors and tasks run that stand in a file? A runner: a worker, and an asyncio task for each resource.

`connector` has the two classes to write; `definitions` reads the file; `runner` puts it together.
"""

from kcoord.worker.runner.connector import Connector, Context, Task, to_its_end
from kcoord.worker.runner.definitions import DefinitionError
from kcoord.worker.runner.runner import Runner
from kcoord.worker.runner.running import Status

__all__ = ["Connector", "Context", "DefinitionError", "Runner", "Status", "Task", "to_its_end"]

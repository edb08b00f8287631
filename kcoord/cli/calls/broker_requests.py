"""How commands ask a broker: the options that name the broker, and one way to connect, ask, and report an error."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from kcoord.cli.failure import USAGE, fail

if TYPE_CHECKING:
    from kcoord.client import Cluster

T = TypeVar("T")

Bootstrap = Annotated[
    str,
    typer.Option("--bootstrap-server", metavar="HOST:PORT,...", help="The server to ask: kcoord, or any Kafka broker."),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config", metavar="FILE", help="Client properties for TLS and SASL, as Kafka's tools take them."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DEFAULT_BOOTSTRAP = "localhost:9092"


def addresses_of(bootstrap: str, option: str = "--bootstrap-server") -> list[tuple[str, int]]:
    """The addresses given with that option. If one is invalid, the command ends."""
    from kcoord.address import parse_address

    try:
        return [parse_address(part.strip()) for part in bootstrap.split(",")]
    except ValueError as error:
        fail(f"{option}: {error}", USAGE)


def ask(
    bootstrap: str,
    config: Path | None,
    question: "Callable[[Cluster], Coroutine[None, None, T]]",
    *,
    changes: bool = False,
) -> T:
    """Connect, ask, and return the answer. An error ends the command with one line. `changes`: whether the command
    changes something; the line then says whether that has happened, if it is in doubt.
    """
    from kcoord.client import ClientError

    try:
        return asked(bootstrap, config, question, changes=changes)
    except ClientError as error:
        fail(error)


def asked(
    bootstrap: str,
    config: Path | None,
    question: "Callable[[Cluster], Coroutine[None, None, T]]",
    *,
    changes: bool = False,
) -> T:
    """Connect, ask, and return the answer. Raises ClientError."""
    from kcoord.cli.calls.command_connections import CommandCluster
    from kcoord.client import ClientError, Security

    addresses = addresses_of(bootstrap)

    async def answered(security: Security) -> T:
        async with CommandCluster(addresses, security) as cluster:
            try:
                return await question(cluster)
            except ClientError as error:
                raise ClientError(f"{error}{await cluster.why(error, changes)}") from error

    return asyncio.run(answered(Security.from_file(config) if config else Security()))


def show(what: str | list[Any] | dict[str, Any]) -> None:
    """Print a text, which ends its last line itself, or anything else as JSON."""
    print(what if isinstance(what, str) else json.dumps(what, indent=2) + "\n", end="")

"""`kcoord worker`: run one worker of a group, with the connectors of a TOML file, of a directory, or of Kafka Connect's
configuration topic.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kcoord.cli.calls.broker_requests import DEFAULT_BOOTSTRAP, Bootstrap, CommandConfig, addresses_of
from kcoord.cli.failure import USAGE, fail
from kcoord.cli.output.log_lines import log_to


class Protocol(StrEnum):
    """The protocols that a worker can speak."""

    CONNECT = "connect"
    CLASSIC = "classic"
    GENERIC = "generic"
    """The former name of `classic`."""


class Level(StrEnum):
    """The log levels."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


def worker(
    group: Annotated[str, typer.Option("-g", "--group", metavar="GROUP", help="The group to join.")],
    connectors: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONNECTORS",
            help='A TOML file with a table for each connector, or a directory of "NAME.toml".',
            show_default=False,
        ),
    ] = None,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    config_topic: Annotated[
        str | None,
        typer.Option(
            "--config-topic",
            metavar="TOPIC",
            help="Instead of CONNECTORS: Kafka Connect's config.storage.topic, to run beside Connect's own workers.",
        ),
    ] = None,
    config_bootstrap: Annotated[
        str | None,
        typer.Option(
            "--config-bootstrap",
            metavar="HOST:PORT,...",
            help="The Kafka cluster that has the topic.  [default: the bootstrap server]",
        ),
    ] = None,
    config_command_config: Annotated[
        Path | None,
        typer.Option(
            "--config-command-config",
            metavar="FILE",
            help="Client properties for that cluster.  [default: those of --command-config]",
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            metavar="[CLASS=]MODULE:CLASS",
            help="The Python connector that runs the connectors in the topic: all of them, or those with this "
            "connector.class. A python.class in a connector's configuration takes precedence. May be given "
            "several times.",
        ),
    ] = None,
    instance_id: Annotated[
        str | None,
        typer.Option(
            "-i",
            "--instance-id",
            metavar="NAME",
            help="The name of a static worker, which keeps its share over a restart.",
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Where others reach this worker; the group is told.")
    ] = None,
    protocol: Annotated[
        Protocol,
        typer.Option(
            "--protocol", help="The protocol to speak with the coordinator. (generic: former name of classic.)"
        ),
    ] = Protocol.CONNECT,
    assignor: Annotated[
        list[str] | None,
        typer.Option(
            "--assignor",
            metavar="NAME",
            help="An assignor that this worker can run: cooperative, connect (for Java workers too), a policy "
            "(eager, design-1, design-2, design-3, kip-415), or MODULE:CLASS. May be given several times, "
            "the preferred one first.",
        ),
    ] = None,
    server_assignor: Annotated[
        str | None,
        typer.Option(
            "--server-assignor", metavar="NAME", help="Instead of --assignor: an assignor that runs in the coordinator."
        ),
    ] = None,
    rebalance_timeout: Annotated[
        float, typer.Option("--rebalance-timeout", metavar="SECONDS", min=1, help="How long stopping tasks may take.")
    ] = 60,
    client_id: Annotated[
        str | None,
        typer.Option(
            "--client-id", metavar="NAME", help="The beginning of member ids.  [default: the instance id, or worker]"
        ),
    ] = None,
    command_config: CommandConfig = None,
    log_level: Annotated[
        Level, typer.Option("--log-level", help="The lowest level of lines that are logged.")
    ] = Level.INFO,
) -> None:
    """Run one worker of a group, with connectors from a file or from Kafka Connect's configuration topic.

    All workers of the group share the connectors and their tasks. On SIGTERM or Ctrl-C the worker stops what it runs
    and leaves; the place of a static worker is kept for a while.
    """
    from kcoord.cli import worker_process
    from kcoord.client import ClientError, Security
    from kcoord.worker import WorkerError
    from kcoord.worker.config_topic import ConfigTopicError
    from kcoord.worker.runner import DefinitionError

    addresses_of(bootstrap_server)
    if config_bootstrap is not None:
        addresses_of(config_bootstrap, "--config-bootstrap")
    if assignor and server_assignor:
        fail("--assignor and --server-assignor cannot be used together", USAGE)
    if (connectors is None) == (config_topic is None):
        fail("give either CONNECTORS (a file or a directory) or --config-topic", USAGE)
    for option, given in (
        ("--config-bootstrap", config_bootstrap),
        ("--config-command-config", config_command_config),
        ("--run", run),
    ):
        if given and config_topic is None:
            fail(f"{option} is for the configuration topic: give --config-topic too", USAGE)
    config_at = config_bootstrap or bootstrap_server
    try:
        security = Security.from_file(command_config) if command_config else None
        config_security = Security.from_file(config_command_config) if config_command_config else security
        log_to(sys.stderr, log_level.value, [each.password for each in (security, config_security) if each])
        worker_process.run(
            connectors or worker_process.Topic(str(config_topic), config_at, config_security, run or []),
            bootstrap_server,
            group,
            assignor or [],
            security=security,
            group_protocol="connect" if protocol is Protocol.CONNECT else "classic",
            url=url,
            server_assignor=server_assignor,
            instance_id=instance_id,
            rebalance_timeout=rebalance_timeout,
            client_id=client_id or instance_id or "worker",
        )
    except (ClientError, ConfigTopicError, DefinitionError, WorkerError) as error:
        fail(error)
    except worker_process.UnknownAssignor as error:
        fail(f"--assignor {error}", USAGE)

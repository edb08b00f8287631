"""`kcoord topics`: list, add, grow and remove topics, at a kcoord without a cluster or at any Kafka broker."""

from typing import Annotated

import typer

from kcoord.cli.calls.broker_requests import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, CommandConfig, ask, show

app = typer.Typer(help="List topics, and create, enlarge and delete them.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The topic's name.")]
Partitions = Annotated[int, typer.Argument(metavar="PARTITIONS", min=1, help="How many partitions it is to have.")]


@app.command("list")
def list_topics(
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP, as_json: AsJson = False, command_config: CommandConfig = None
) -> None:
    """List all topics, with their numbers of partitions and their ids."""
    from kcoord.cli.calls import topic_calls

    found = ask(bootstrap_server, command_config, topic_calls.list_topics)
    show([each.as_json() for each in found] if as_json else topic_calls.table(found))


@app.command("add")
def add(
    name: Name,
    partitions: Partitions,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Create a topic.

    At a kcoord without a cluster it has no data: consumer groups share its partitions. At a cluster it has the number
    of replicas that the cluster gives by itself.
    """
    from kcoord.cli.calls import topic_calls

    show(
        ask(bootstrap_server, command_config, lambda cluster: topic_calls.add(cluster, name, partitions), changes=True)
    )


@app.command("grow")
def grow(
    name: Name,
    partitions: Partitions,
    bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP,
    command_config: CommandConfig = None,
) -> None:
    """Give a topic more partitions. PARTITIONS counts all, old and new ones.

    Groups that subscribe to it share the new ones at once.
    """
    from kcoord.cli.calls import topic_calls

    show(
        ask(bootstrap_server, command_config, lambda cluster: topic_calls.grow(cluster, name, partitions), changes=True)
    )


@app.command("remove")
def remove(name: Name, bootstrap_server: Bootstrap = DEFAULT_BOOTSTRAP, command_config: CommandConfig = None) -> None:
    """Delete a topic, at a cluster with all its data.

    Groups that subscribe to it lose its partitions.
    """
    from kcoord.cli.calls import topic_calls

    show(ask(bootstrap_server, command_config, lambda cluster: topic_calls.remove(cluster, name), changes=True))

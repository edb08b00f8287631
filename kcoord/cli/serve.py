"""`kcoord serve`: read the settings, say what is there, serve until told to stop."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import USAGE, fail
from kcoord.cli.log_lines import log_to

if TYPE_CHECKING:
    from kcoord.config import Settings


def serve(
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where clients connect first.  [default: localhost:9092]")
    ] = None,
    data_dir: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where kcoord keeps its records.  [default: data]")
    ] = None,
    advertise: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="What clients are told to connect to, where that differs.")
    ] = None,
    upstream: Annotated[
        str | None, typer.Option(metavar="HOST:PORT,...", help="Brokers of the cluster to stand in front of.")
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Groups that kcoord is to coordinate beside --upstream, '.*' for all. May be given several times.",
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(metavar="embedded|kafka", help="Where records live: in DIR, or in a topic.  [default: embedded]"),
    ] = None,
    log_bootstrap: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT,...", help="Brokers of the topic's cluster.  [default: those of --upstream]"),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "-o", metavar="NAME=VALUE", help="Any setting (see: kcoord settings). May be given several times."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="KCOORD_CONFIG", help="Settings from a TOML file.")
    ] = None,
) -> None:
    """Coordinate groups: alone, or with --upstream in front of a cluster."""
    from kcoord.config import SettingsError, exposed_secrets, load_settings, secrets_of

    flags = {
        "listen": listen,
        "data_dir": data_dir,
        "advertise": advertise,
        "upstream": upstream,
        "groups": tuple(groups or ()),
        "log": log,
        "log_bootstrap": log_bootstrap,
    }
    try:
        settings = load_settings(option or (), {field: value for field, value in flags.items() if value}, config)
    except SettingsError as error:
        fail(error, USAGE)
    log_to(sys.stderr, settings.log_level, secrets_of(settings))
    for warning in exposed_secrets(option or ()):
        logging.getLogger("kcoord.server").warning("%s", warning)
    _serve(settings)


def _serve(settings: "Settings") -> None:
    from kcoord.cli.screen import start_screen
    from kcoord.log.interface import LogError
    from kcoord.server.run import StartError, run
    from kcoord.server.tls import TlsError

    try:
        run(settings, lambda: print(start_screen(settings), flush=True))
    except (StartError, LogError, TlsError) as error:
        fail(error)

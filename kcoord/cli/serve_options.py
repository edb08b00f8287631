"""The options of `kcoord serve`, which `kcoord check` takes too."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.failure import USAGE, fail

if TYPE_CHECKING:
    from kcoord.settings_sources import Settings

Listen = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Where clients connect first.  [default: localhost:9092]")
]
DataDir = Annotated[str | None, typer.Option(metavar="DIR", help="Where kcoord keeps its records.  [default: data]")]
Advertise = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Host and port that clients are told to connect to."),
]
UpstreamBrokers = Annotated[
    str | None, typer.Option(metavar="HOST:PORT,...", help="Brokers of the cluster that kcoord runs in front of.")
]
GroupPatterns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="REGEX",
        help="Groups for kcoord to coordinate, with --upstream; '.*' for all. May be given several times.",
    ),
]
LogKind = Annotated[
    str | None,
    typer.Option(
        metavar="embedded|kafka", help="Where kcoord keeps its records: in DIR, or in a topic.  [default: embedded]"
    ),
]
LogBootstrap = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT,...", help="Brokers of the cluster that has the topic.  [default: those of --upstream]"
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option("-o", metavar="NAME=VALUE", help="Any setting (see: kcoord settings). May be given several times."),
]
ConfigFile = Annotated[
    Path | None, typer.Option(metavar="FILE", envvar="KCOORD_CONFIG", help="Settings from a TOML file.")
]


def settings_of(options: Sequence[str] | None, config: Path | None, **flags: object) -> "Settings":
    """The settings from the command line, the environment and the file. If they are invalid, the command ends. `flags`
    are the values of the other options here, by the names of their settings.
    """
    from kcoord.settings_sources import SettingsError, load_settings

    try:
        given = {field: tuple(value) if isinstance(value, list) else value for field, value in flags.items() if value}
        return load_settings(options or (), given, config)
    except SettingsError as error:
        fail(error, USAGE)

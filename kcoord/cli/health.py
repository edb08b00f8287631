"""`kcoord health`: whether kcoord responds, as an exit code, for the health checks of containers."""

import asyncio
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcoord.cli.calls.broker_requests import CommandConfig, addresses_of
from kcoord.cli.failure import USAGE, fail

if TYPE_CHECKING:
    from kcoord.client import Security
    from kcoord.settings_sources import Settings

ANSWER_S = 5.0


def health(
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-server",
            metavar="HOST:PORT,...",
            help="The kcoord to ask.  [default: where kcoord listens, by the settings in the environment and the file]",
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="KCOORD_CONFIG", help="Settings from a TOML file.")
    ] = None,
    command_config: CommandConfig = None,
) -> None:
    """Ask kcoord which versions it speaks. Exit code 0 if it responds, 1 if not.

    In front of a cluster this needs a response of the cluster too. If kcoord asks its clients for certificates,
    --command-config must name one.
    """
    from kcoord.client import ClientError, Connection, Security
    from kcoord.settings_sources import SettingsError, load_settings

    try:
        settings = load_settings((), {}, config)
    except SettingsError as error:
        fail(error, USAGE)
    addresses = addresses_of(bootstrap_server) if bootstrap_server else [_own_address(settings)]

    async def ask(security: Security) -> None:
        for host, port in addresses:
            connection = await Connection.open(host, port, security, ANSWER_S)
            await connection.close()
            print(f"{host}:{port} answers")

    try:
        asyncio.run(ask(Security.from_file(command_config) if command_config else _own_security(settings)))
    except ClientError as error:
        fail(error)


def _own_address(settings: "Settings") -> tuple[str, int]:
    host, port = settings.listen
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port


def _own_security(settings: "Settings") -> "Security":
    """TLS if kcoord's own ports speak it. Nothing is verified: kcoord is asked by another name than its certificate's,
    and no secret is sent.
    """
    from kcoord.client import Security

    if settings.ssl_certificate_location is None:
        return Security()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return Security(context)

"""`kcoord serve`: read the settings, show the start screen, serve until told to stop."""

import gc
import logging
import sys
from typing import TYPE_CHECKING

from kcoord.cli.failure import fail
from kcoord.cli.output.log_lines import log_to
from kcoord.cli.serve_options import (
    Advertise,
    ConfigFile,
    DataDir,
    GroupPatterns,
    Listen,
    LogBootstrap,
    LogKind,
    Options,
    UpstreamBrokers,
    settings_of,
)

if TYPE_CHECKING:
    from kcoord.settings_sources import Settings


def serve(
    listen: Listen = None,
    data_dir: DataDir = None,
    advertise: Advertise = None,
    upstream: UpstreamBrokers = None,
    groups: GroupPatterns = None,
    log: LogKind = None,
    log_bootstrap: LogBootstrap = None,
    option: Options = None,
    config: ConfigFile = None,
) -> None:
    """Coordinate groups: alone, or with --upstream in front of a cluster."""
    gc.disable()  # until it serves: imported modules do not become garbage, and collection takes a tenth of the start
    from kcoord.settings_sources import exposed_secrets, former_names, secrets_of

    settings = settings_of(
        option,
        config,
        listen=listen,
        data_dir=data_dir,
        advertise=advertise,
        upstream=upstream,
        groups=groups,
        log=log,
        log_bootstrap=log_bootstrap,
    )
    log_to(sys.stderr, settings.log_level, secrets_of(settings))
    for warning in (*exposed_secrets(option or ()), *former_names(option or (), config)):
        logging.getLogger("kcoord.server").warning("%s", warning)
    _serve(settings)


def _serve(settings: "Settings") -> None:
    from kcoord.cli.output.start_screen import start_screen
    from kcoord.log.interface import LogError
    from kcoord.server.run import StartError, run
    from kcoord.server.startup.tls import TlsError

    try:
        run(settings, lambda: print(start_screen(settings), flush=True))
    except (StartError, LogError, TlsError) as error:
        fail(error)

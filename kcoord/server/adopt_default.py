"""The default of `gateway.adopt`: adopt groups in a new installation, but not where kcoord ran before.

Release 0.1.0 never took a group that had members at the cluster. After an upgrade from it, some groups are still left
to the cluster, perhaps on purpose. kcoord must not take these over (docs/gateway.md).
"""

import logging
from pathlib import Path
from typing import Literal

from kcoord.config import Settings
from kcoord.gateway.topology.brokers import FILE as BROKER_MAP

log = logging.getLogger("kcoord.server")

MARK = "adopts"
"""A file in the data directory that says: kcoord was new here, and adopts groups."""


def adopts_by_itself(settings: Settings) -> bool:
    """Whether kcoord would adopt live groups if it started now, as far as its data directory tells. Changes nothing."""
    if settings.gateway_adopt is not None:
        return settings.gateway_adopt == "auto"
    return (settings.data_dir / MARK).exists() or not (settings.data_dir / BROKER_MAP).exists()


def adopt_default(settings: Settings, log_is_new: bool) -> Literal["auto", "manual"]:
    """The value of `gateway.adopt` that is in force. Logs a line if that is `manual` by default. Notes in the data
    directory that kcoord was new. Raises OSError.
    """
    if settings.gateway_adopt is not None:
        return settings.gateway_adopt
    mark = settings.data_dir / MARK
    if mark.exists():
        return "auto"
    if log_is_new and not (settings.data_dir / BROKER_MAP).exists():
        _write(mark)
        return "auto"
    log.info(
        "kcoord ran here before: groups that have members at the cluster stay there until kcoord groups adopt names "
        "them (gateway.adopt=manual; set it to auto, and kcoord takes each over once all its members come through it)"
    )
    return "manual"


def _write(mark: Path) -> None:
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text("kcoord was new here: gateway.adopt is auto unless it is set\n")

"""The default of `gateway.adopt`: adopt groups in a new installation, but not where kcoord ran before.

Release 0.1.0 never took a group that had members at the cluster. After an upgrade from it, some groups are still left
to the cluster, perhaps on purpose. kcoord must not take these over (docs/gateway.md).


Of several instances, the one that makes the topic notes this. It tells the others by the map of the instances, and each
of them notes it too. So the note outlives an instance that comes back without its data directory.
"""

import logging

from kcoord.gateway.topology.brokers import FILE as BROKER_MAP
from kcoord.settings_sources import Settings

log = logging.getLogger("kcoord.server")

MARK = "adopts"
"""A file in the data directory that says: kcoord was new here, and adopts groups."""


def adopts_by_itself(settings: Settings) -> bool:
    """Whether kcoord would adopt live groups if it started now, as far as its data directory tells. Changes nothing."""
    if settings.gateway_adopt is not None:
        return settings.gateway_adopt == "auto"
    return (settings.data_dir / MARK).exists() or not (settings.data_dir / BROKER_MAP).exists()


def began_new(settings: Settings, log_is_new: bool) -> bool:
    """Whether this installation began with a kcoord that adopts groups, as far as the data directory tells. If it
    begins now, that is noted there. Raises OSError.
    """
    if (settings.data_dir / MARK).exists():
        return True
    if not log_is_new or (settings.data_dir / BROKER_MAP).exists():
        return False
    remember(settings)
    return True


def remember(settings: Settings) -> None:
    """Note in the data directory that this installation began with a kcoord that adopts groups. Raises OSError."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    (settings.data_dir / MARK).write_text("kcoord was new here: gateway.adopt is auto unless it is set\n")


def tell_default(settings: Settings, is_new: bool) -> None:
    """Log a line if `gateway.adopt` is `manual` because kcoord ran here before."""
    if settings.gateway_adopt is None and not is_new:
        log.info(
            "kcoord ran here before: groups that have members at the cluster stay there until kcoord groups adopt "
            "names them (gateway.adopt=manual; set it to auto, and kcoord takes each over once all its members come "
            "through it)"
        )

"""The way to the real cluster behind: pass-through, address rewriting, and the groups that are taken from it.

`Gateway` (gateway.py) is what the server builds; `GatewaySettings` (settings.py) is what it is told.
Its rules stand in docs/rules/gateway.md (GW) and docs/rules/adoption.md (AD).
"""

from kcoord.gateway.gateway import Gateway
from kcoord.gateway.settings import GatewaySettings, UpstreamTls

__all__ = ["Gateway", "GatewaySettings", "UpstreamTls"]

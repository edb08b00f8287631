"""The gateway in front of a real cluster: pass-through, address rewriting, and the groups that kcoord takes from it.

The server builds a `Gateway` (gateway.py) from `GatewaySettings` (settings.py).
The rules are in docs/rules/gateway.md (GW) and docs/rules/adoption.md (AD).
"""

from kcoord.gateway.gateway import Gateway
from kcoord.gateway.settings import GatewaySettings, UpstreamTls

__all__ = ["Gateway", "GatewaySettings", "UpstreamTls"]

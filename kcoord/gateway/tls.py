"""TLS towards the cluster, and the warnings that kcoord logs at start."""

from __future__ import annotations

import logging
import ssl

from kcoord.gateway.settings import GatewaySettings

__all__ = ["upstream_context", "warn_of_costs"]

log = logging.getLogger("kcoord.gateway")


def upstream_context(settings: GatewaySettings) -> ssl.SSLContext | None:
    """The TLS context for connections to upstream; None if upstream speaks plaintext.

    Raises ValueError, which names the file that does not fit.
    """
    if not settings.uses_tls:
        return None
    tls = settings.tls
    try:
        context = ssl.create_default_context(cafile=str(tls.ca_file) if tls.ca_file is not None else None)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"upstream's authorities in {tls.ca_file} cannot be read: {error}") from None
    context.check_hostname = tls.check_hostname
    if tls.certificate_file is not None:
        try:
            context.load_cert_chain(tls.certificate_file, tls.key_file, tls.key_password)
        except (OSError, ssl.SSLError) as error:
            raise ValueError(
                f"the certificate for upstream in {tls.certificate_file} cannot be used: {error}"
            ) from None
    return context


def warn_of_costs(settings: GatewaySettings) -> None:
    """Warn at start of what a cluster sees differently with kcoord in between (GW-8)."""
    log.warning(
        "upstream sees kcoord's address in place of its clients': "
        "host ACLs, quotas by address and max.connections.per.ip apply to kcoord"
    )
    if settings.uses_sasl:
        log.warning(
            "clients that use Kerberos need the brokers' principals to match the host by which they reach kcoord"
        )
    if settings.tls.certificate_file is not None:
        log.warning("upstream takes every client for kcoord: upstream.ssl.all.clients.are.kcoord is set")
    if settings.uses_tls and not settings.tls.check_hostname:
        log.warning("the host names in upstream's certificates are not checked")

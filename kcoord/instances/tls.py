"""TLS between instances, with certificates on both sides from an authority of their own.

Each instance's certificate names the host by which the others know it (`internal.advertise`), and is valid for both
sides of a connection.
"""

from __future__ import annotations

import ssl
from pathlib import Path

import attrs

__all__ = ["InternalTls", "TlsUnusable"]


class TlsUnusable(Exception):
    """A file cannot be used. The text says which, and why."""


@attrs.frozen(kw_only=True)
class InternalTls:
    """The PEM files. A process that has a certificate from `ca` counts as an instance."""

    certificate: Path
    key: Path
    key_password: str | None = attrs.field(default=None, repr=False)
    ca: Path

    def of_called(self) -> ssl.SSLContext:
        """The TLS context of the listener. Raises TlsUnusable."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED
        return self._with_files(context)

    def of_caller(self) -> ssl.SSLContext:
        """The TLS context of the calling side. Raises TlsUnusable."""
        return self._with_files(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    def _with_files(self, context: ssl.SSLContext) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.key, self.key_password or "")
            context.load_verify_locations(self.ca)
        except (OSError, ssl.SSLError) as error:
            raise TlsUnusable(
                f"no usable PEM files (internal.ssl.certificate.location={self.certificate}, "
                f"internal.ssl.key.location={self.key}, internal.ssl.ca.location={self.ca}): {error}"
            ) from None
        return context

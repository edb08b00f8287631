"""How do instances speak TLS with each other? With certificates on both sides, of an authority that is theirs.

Each instance's certificate names the host that it is known by among them (`internal.advertise`), and is good for both
sides of a connection.
"""

from __future__ import annotations

import ssl
from pathlib import Path

import attrs

__all__ = ["InternalTls", "TlsUnusable"]


class TlsUnusable(Exception):
    """A file cannot be used; the text says which, and why."""


@attrs.frozen(kw_only=True)
class InternalTls:
    """PEM files; whoever has a certificate of `ca` is an instance."""

    certificate: Path
    key: Path
    key_password: str | None = attrs.field(default=None, repr=False)
    ca: Path

    def of_called(self) -> ssl.SSLContext:
        """For the listener. Raises TlsUnusable."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED
        return self._with_files(context)

    def of_caller(self) -> ssl.SSLContext:
        """For those who call it. Raises TlsUnusable."""
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

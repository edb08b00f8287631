"""The TLS context of the listener, with clear errors about certificates and keys."""

from __future__ import annotations

import ssl
from pathlib import Path


class TlsError(Exception):
    """A certificate or key cannot be used. The text says which file, what is wrong and what to do."""


def listener_context(
    certificate: Path, key: Path | None, password: str | None, client_authorities: Path | None = None
) -> ssl.SSLContext:
    """A server-side TLS context from PEM files: `certificate` with its chain, and `key` (None: in the same file).

    With `client_authorities`, clients must show a certificate that one of these authorities has signed. Raises
    TlsError.
    """
    for file in (certificate, key, client_authorities):
        if file is not None and not file.is_file():
            raise TlsError(f"{file}: there is no such file; give a PEM file that this process may read")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password)
    except ssl.SSLError as error:
        raise TlsError(
            f"{certificate}: no usable certificate and key ({error.reason or error}); both must be PEM, belong "
            "together, and the password of the key, if it has one, must be set"
        ) from error
    if client_authorities is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(client_authorities)
        except ssl.SSLError as error:
            raise TlsError(f"{client_authorities}: no PEM file with certificates ({error.reason or error})") from error
    return context

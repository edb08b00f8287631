"""Addresses as users write them: HOST:PORT, to connect to or to listen on."""

from __future__ import annotations

Address = tuple[str, int]
"""Host and port."""


def parse_address(text: str) -> Address:
    """The host and port in `text`: HOST:PORT, or [HOST]:PORT for an IPv6 address. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{text!r} is no HOST:PORT")
    return host, int(port)

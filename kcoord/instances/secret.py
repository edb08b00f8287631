"""The shared secret by which two instances prove to each other that they belong to one cluster.

Both sides have the secret and neither sends it. Each side sends random bytes. Each proves that it has the secret by an
HMAC over both sides' bytes and its own identity. The text differs between caller and called side, so that a proof
cannot be sent back. The caller proves first. The key derivation is slow, so that a recorded proof does not soon reveal
a weak secret. If TLS with certificates on both sides is used instead, the proofs are empty.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

__all__ = ["MIN_SECRET", "NONCE_BYTES", "Secret", "nonce", "same"]

MIN_SECRET = 16
"""The fewest characters of a secret."""
NONCE_BYTES = 32
ROUNDS = 200_000
SALT = b"kcoord.instances.internal"


def nonce() -> bytes:
    """New random bytes."""
    return secrets.token_bytes(NONCE_BYTES)


class Secret:
    """The shared secret; made from None if there is none, because certificates are used instead."""

    def __init__(self, secret: str | None) -> None:
        """Raises ValueError for a secret that is too short."""
        if secret is not None and len(secret) < MIN_SECRET:
            raise ValueError(f"internal.secret has {len(secret)} characters, and must have {MIN_SECRET} at least")
        self._key = None if secret is None else hashlib.pbkdf2_hmac("sha256", secret.encode(), SALT, ROUNDS)

    def of_caller(self, instance_id: int, run: str, called_nonce: bytes, caller_nonce: bytes) -> bytes:
        """The proof of the calling side."""
        return self._proof(b"caller", instance_id, run, called_nonce, caller_nonce)

    def of_called(self, instance_id: int, called_nonce: bytes, caller_nonce: bytes) -> bytes:
        """The proof of the called side."""
        return self._proof(b"called", instance_id, "", called_nonce, caller_nonce)

    def _proof(self, side: bytes, instance_id: int, run: str, called_nonce: bytes, caller_nonce: bytes) -> bytes:
        if self._key is None:
            return b""
        parts = (side, str(instance_id).encode(), run.encode(), called_nonce, caller_nonce)
        text = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hmac.new(self._key, text, hashlib.sha256).digest()


def same(one: bytes, other: bytes) -> bool:
    """Whether two proofs are equal. The time that this takes does not show where they differ."""
    return hmac.compare_digest(one, other)

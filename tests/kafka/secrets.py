"""Do secrets of the tests stand in a log?

Every user of a test's Kafka has a password that ends alike (`security.password_of`), so what ends like that in a log
of kcoord is a password, of a user of the test or of one that it made up.
"""

import base64
import re
from collections.abc import Iterable
from pathlib import Path

_PASSWORD = re.compile(rb"[^\s'\"]+-secret\b")


def secrets_in(log: Path, known: Iterable[str] = ()) -> list[str]:
    """What stands in `log` of `known` secrets, plain or in base64, and of all users' passwords."""
    written = log.read_bytes() if log.exists() else b""
    found = [each.decode("utf-8", "replace") for each in _PASSWORD.findall(written)]
    for secret in known:
        forms = (secret.encode(), base64.b64encode(secret.encode()))
        found += [secret for form in forms if form in written]
    return found

"""Do we write and read what kio writes and reads? Every message of Kafka's, every version, byte for byte, both ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kcoord.protocol.message_base import Message
from tests.light import fewer, some
from tests.protocol.catalogue import KAFKAS_MESSAGES, named, values
from tests.protocol.kio_side import as_kio, kio_class, read_by_kio, values_that_kio_has, written_by_kio


@pytest.mark.parametrize(("cls", "version"), some(named(KAFKAS_MESSAGES), 100))
@settings(max_examples=fewer(6, 2), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_both_write_the_same_bytes_and_read_the_same_values(
    cls: type[Message], version: int, data: st.DataObject
) -> None:
    kio = kio_class(cls, version)
    ours: Any = data.draw(values(cls, version, values_that_kio_has, unknown=False))
    theirs = as_kio(ours, kio, version)

    our_bytes = ours.encode(version)
    assert our_bytes == written_by_kio(theirs)
    assert read_by_kio(kio, our_bytes) == theirs
    assert cls.decode(our_bytes, version) == ours

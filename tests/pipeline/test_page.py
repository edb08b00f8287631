"""Is `docs/pipeline.md` what the code says?"""

from kcoord.pipeline.page import page
from kcoord.pipeline.schemas import TABLES
from tests.repository import ROOT


def test_the_page_is_up_to_date() -> None:
    """It is written by `make docs`; when this fails, run it."""
    assert (ROOT / "docs/pipeline.md").read_text() == page()


def test_every_column_is_said_what_it_means() -> None:
    for table in TABLES:
        assert table.about.endswith(".")
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        for column in table.columns:
            assert column.about.endswith("."), (table.name, column.name)

"""What the page Ask asks of a ledger, without a browser."""

import pytest

pytest.importorskip("nicegui")

from metricdp.errors import PolicyError
from metricdp.studio.browsers import Browser
from metricdp.studio.files import GivenFile
from metricdp.studio.pages.ask import _Ask

POLICY = """format = 2
records = 2
ledger = "required"
[columns.sex]
type = "category"
values = ["F", "M"]
epsilon = 1
missing = "refuse"
"""


def test_a_ledger_that_is_required_is_one_that_stays(tmp_path):
    """The page charged a ledger of its own, which was gone with the studio: the next run began anew."""
    (tmp_path / "people.csv").write_text("sex\nF\nM\n")
    page = _Ask.__new__(_Ask)
    page.browser = Browser(tmp_path / "files")
    page.browser.change("sanitize", table=GivenFile("people.csv", tmp_path / "people.csv"), policy=POLICY)
    with pytest.raises(PolicyError, match="requires a ledger"):
        page._session()
    with pytest.raises(PolicyError, match="requires a ledger"):
        page._look_at("select count(*) from people", None)
    page.browser.change("sanitize", policy=POLICY.replace('ledger = "required"', ""))
    session, ledger = page._session()
    with ledger:
        assert session.preview("select count(*) from people group by sex")

"""The journal of a recording in the making: nothing that is finished is ever lost."""

from __future__ import annotations

import json

import pytest

from rooflab.measure.record import RecordJournal
from tests.support.rows import each_row


@pytest.fixture
def path(tmp_path):
    """A journal of two steps."""
    journal = RecordJournal(tmp_path / "a.journal", {"n": 1})
    journal.once("one", lambda: {"x": 1})
    journal.once("twö", lambda: {"x": 2})
    return journal.path


def test_a_torn_last_line_is_measured_again(path):
    whole = path.read_bytes()
    for cut in range(1, 20):  # also in the middle of a letter
        path.write_bytes(whole[:-cut])
        again = RecordJournal(path, {"n": 1})
        assert ("twö" in again) == (cut == 1)  # only the line's end was missing
        again.once("three", lambda: 3)
        last = RecordJournal(path, {"n": 1})
        assert last.once("three", pytest.fail) == 3
        assert last.once("one", pytest.fail) == {"x": 1}


def test_what_follows_a_damaged_line_is_measured_again(path):
    first, one, two, _ = path.read_text(encoding="utf-8").split("\n")
    path.write_text(f"{first}\n{one}\n{{nonsense\n{two}\n", encoding="utf-8")
    again = RecordJournal(path, {"n": 1})
    assert "one" in again and "twö" not in again


@each_row(({"journal": 0, "campaign": {"n": 1}}, "journal=0, not 1"),
          ({"journal": 1, "campaign": {"n": 2}}, "n=2, not 1"), ({}, "journal=None"))  # fmt: skip
def test_a_journal_of_another_version_or_campaign_is_not_taken_up(head, says, path):
    steps = path.read_text(encoding="utf-8").split("\n", 1)[1]
    other = path.with_name(f"{says}.journal")
    other.write_text(f"{json.dumps(head)}\n{steps}", encoding="utf-8")
    with pytest.raises(ValueError, match=f"{says}.*restart=True"):
        RecordJournal(other, {"n": 1})
    assert other.read_text(encoding="utf-8").endswith(steps)
    assert "one" not in RecordJournal(other, {"n": 1}, restart=True)


def test_a_journal_without_times_is_taken_up(path):
    """As they were written before steps were timed."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    old = [{k: v for k, v in line.items() if k != "seconds"} for line in lines]
    path.write_text("\n".join(map(json.dumps, old)), encoding="utf-8")
    again = RecordJournal(path, {"n": 1})
    assert again.once("twö", pytest.fail) == {"x": 2} and again.spent({"one", "other"}) == 0.0

"""The journal of a recording in the making: nothing that is finished is ever lost."""

from __future__ import annotations

import pytest

from rooflab.measure.record import RecordJournal
from tests.support.rows import each_row


def test_a_torn_last_line_is_measured_again(tmp_path):
    journal = RecordJournal(tmp_path / "a.journal", {"n": 1})
    journal.add("one", {"x": 1})
    journal.add("twö", {"x": 2})
    journal.close()
    whole = (tmp_path / "a.journal").read_bytes()
    for cut in range(1, 20):  # also in the middle of a letter
        (tmp_path / "a.journal").write_bytes(whole[:-cut])
        again = RecordJournal(tmp_path / "a.journal", {"n": 1})
        assert "one" in again
        assert ("twö" in again) == (cut == 1)  # only the line's end was missing
        again.add("three", 3)
        again.close()
        last = RecordJournal(tmp_path / "a.journal", {"n": 1})
        assert last["three"] == 3 and last["one"] == {"x": 1}
        last.close()


def test_damage_in_the_middle_of_a_journal_is_refused(tmp_path):
    journal = RecordJournal(tmp_path / "a.journal", {"n": 1})
    journal.add("one", 1)
    journal.add("two", 2)
    journal.close()
    lines = (tmp_path / "a.journal").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "a.journal").write_text(lines[0] + "{nonsense\n" + lines[2], encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.journal: line 2 is damaged.*restart=True"):
        RecordJournal(tmp_path / "a.journal", {"n": 1})
    fresh = RecordJournal(tmp_path / "a.journal", {"n": 1}, restart=True)
    assert "one" not in fresh and fresh.resumed == 0
    fresh.close()


@each_row("[]", "3", "null", '"step"', "[" * 99_999)
@each_row(1, 2)
def test_lines_of_something_else_are_damage_too(number, line, tmp_path):
    path = tmp_path / f"{number}-{len(line)}.journal"
    journal = RecordJournal(path, {"n": 1})
    journal.add("one", 1)
    journal.add("two", 2)
    journal.close()
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = line
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"line {number} is damaged.*--restart"):
        RecordJournal(path, {"n": 1})
    assert path.read_text(encoding="utf-8") == "\n".join(lines)

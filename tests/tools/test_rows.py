"""A test that goes through rows fails on each row that is wrong, and says which."""

from __future__ import annotations

import os

import pytest

from tests.support.rows import each_row


def test_every_row_is_asked_and_the_wrong_ones_are_named():
    seen = []

    @each_row("x", "y")
    @each_row(*range(1, 4))
    def even(number, letter, base):
        seen.append((number, letter))
        assert number % 2 == base

    with pytest.raises(BaseExceptionGroup, match=r"2 of 2 rows"):
        even(base=0)
    assert seen == [(number, letter) for letter in "xy" for number in (1, 2, 3)]
    with pytest.raises(BaseExceptionGroup) as group:
        even(base=0)
    inner = group.value.exceptions[1]
    assert inner.__notes__ == ["row 1: 'y'"]
    assert [fault.__notes__ for fault in inner.exceptions] == [["row 0: 1"], ["row 2: 3"]]


def test_an_error_that_does_not_come_is_a_fault_of_its_row():
    @each_row((lambda: 1 / 0, ZeroDivisionError), (lambda: 1, ValueError))
    def refused(call, error):
        with pytest.raises(error):
            call()

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as fault:
        refused()
    assert fault.value.__notes__[0].startswith("row 1: <lambda> of line ")


def test_what_a_row_patches_ends_with_it(monkeypatch):
    @each_row("one", "two")
    def patched(name, monkeypatch):
        assert "ROOFLAB_ROW" not in os.environ
        monkeypatch.setenv("ROOFLAB_ROW", name)

    patched(monkeypatch=monkeypatch)
    assert "ROOFLAB_ROW" not in os.environ


def test_a_table_without_rows_or_of_two_widths_is_none():
    for rows in ((), (1, (2, 3))):
        with pytest.raises(ValueError, match="all of one length"):
            each_row(*rows)

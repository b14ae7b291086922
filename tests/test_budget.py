"""The course only becomes lighter: lines a room, cases, names that say an act."""

from __future__ import annotations

import tomllib

import pytest

from tools import budget

ENTRIES = tomllib.loads(budget.BUDGET.read_text("utf-8"))


def test_no_room_outgrows_its_entry() -> None:
    assert budget.faults(ENTRIES, budget.weighed()) == []


def test_no_more_cases_than_the_budget_has(request: pytest.FixtureRequest) -> None:
    """Of a whole run: ``python course.py test`` without paths or a choice."""
    config = request.config
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or config.option.keyword:
        pytest.skip("not a whole run")
    assert len(request.session.items) <= ENTRIES["cases"]["all" if config.option.all else "most"]


def test_the_budget_sees_what_grows_and_what_shrinks() -> None:
    entries = {"lines": {"sum": 1100, "a": 1000, "b": 100}, "names": {"told": 3}}
    heavier = {"lines": {"a": 1001, "b": 100}, "names": {"told": 4}}
    assert [text.split(":")[0] for text in budget.faults(entries, heavier)] == ["a", "told"]
    lighter = {"lines": {"a": 939, "b": 41}, "names": {"told": 0}}
    assert budget.faults(entries, lighter) == ["a: 939, well below 1000: run python course.py fmt"]
    assert budget.faults(entries, {"lines": {"c": 1}, "names": {}})[-1].startswith("c has 1 lines")
    lower = budget.lowered(entries, lighter)
    assert lower == {"lines": {"sum": 980, "a": 939, "b": 41}, "names": {}}
    more = {"lines": {"sum": 1100, "a": 1001, "b": 100}}
    assert budget.faults(more, {"lines": {"a": 1001, "b": 100}})[-1].endswith("above the sum 1100")
    assert tomllib.loads(budget.written(entries)) == entries


def test_a_room_is_a_folder_and_each_lab_one_of_its_own() -> None:
    rooms = {
        "lib/rooflab/show/scene/player.js": "lib/rooflab/show",
        "lib/rooflab/labs/golf/run.py": "lib/rooflab/labs/golf",
        "lib/rooflab/lazy.py": "lib/rooflab",
        "tools/budget.py": "tools",
        "tests/labs/golf/support/lru.py": "tests/labs/golf",
        "tests/test_house.py": "tests",
    }
    wrong = {file: budget.room(budget.Path(file)) for file in rooms}
    assert wrong == rooms

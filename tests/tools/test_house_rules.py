"""Each house rule is broken once, in a fixture named by its fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.house_rules import broken_rules
from tools.lesson import read_lesson

GOOD = (Path(__file__).parent / "lessons" / "00_good.py").read_text("utf-8")
LONG = "\n".join(f"x{i} = {i}" for i in range(13))
CHECKS = 'rl.check("00-ridge", 1)\nrl.check("00-double", 2)'
SIX = "\n".join(f"x{i} = {i}" for i in range(6))

# fault: (text of the good lesson, what stands there instead, the message)
FAULTS = {
    "cell_too_long": ("import math\n", LONG, "cell 1: 13 lines of code, at most 12"),
    "cells_long_on_the_whole": (GOOD, GOOD + f"\n# %%\n{SIX}\n" * 20, "median code cell has 6"),
    "unknown_tag": ('"deep"', '"deap"', "cell 2: unknown tag 'deap'; did you mean 'deep'?"),
    "core_and_deep": ('"deep"', '"deep", "core"', "cell 2: tagged both core and deep"),
    "two_checked_outputs": ('tags=["nbval-check-output"]\nmath', "\nmath", "2 code cells tagged"),
    "draws": ("import math", "import matplotlib.pyplot as plt", "cell 1: imports matplotlib"),
    "times": ("import math", "from time import perf_counter", "cell 1: imports time"),
    "answer_without_tag": ('tags=["answer"] rooflab', "rooflab", "needs both the tag"),
    "answer_without_id": ('rooflab={"exercise": "00-double"}', "", "needs both the tag"),
    "id_of_another_lesson": ("00-ridge", "03-time", "exercise id '03-time', expected 00-slug"),
    "id_malformed": ("00-ridge", "00-Ridge_1", "exercise id '00-Ridge_1'"),
    "id_twice": ("00-ridge", "00-double", "exercise '00-double' has 2 answer cells"),
    "answer_never_checked": ('rl.check("00-ridge", ridge)', "ridge", "has no rl.check"),
    "check_of_nothing": ('rl.check("00-ridge"', 'rl.check("00-rigde"', "'00-rigde') has no answer"),
    "two_checks_in_a_cell": ('rl.check("00-ridge", ridge)', CHECKS, "2 calls of rl.check"),
    "id_not_written_out": ('rl.check("00-ridge"', "rl.check(name", "write the exercise id out"),
}


def rules(tmp_path: Path, text: str) -> list[str]:
    source = tmp_path / "00_lesson.py"
    source.write_text(text, "utf-8")
    return broken_rules(read_lesson(source))


def test_the_good_lesson_breaks_none(tmp_path: Path) -> None:
    assert rules(tmp_path, GOOD) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named(tmp_path: Path, fault: str) -> None:
    old, new, message = FAULTS[fault]
    assert old in GOOD
    found = rules(tmp_path, GOOD.replace(old, new))
    assert any(message in line for line in found), found
    assert all(line.startswith("00_lesson.py, ") for line in found)


def test_timing_is_allowed_in_an_answer(tmp_path: Path) -> None:
    text = GOOD.replace("def double(n):", "import time\n\ndef double(n):")
    assert rules(tmp_path, text) == []

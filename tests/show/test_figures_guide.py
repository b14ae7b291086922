"""docs/figures.md, done literally: every block runs, one after the other, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from rooflab.show import figures, theme
from rooflab.show.rooflines import points

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def guide(repository: Path) -> str:
    return (repository / "docs" / "figures.md").read_text("utf-8")


def test_every_example_runs(repository: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(guide(repository))
    assert len(blocks) == 4
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"MPLBACKEND": "agg", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "layer norm: 0.6 FLOP/byte. Measured 1.60 TFLOP/s" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"column.pdf", "both.svg"}


def test_its_tables_name_what_is_read_and_written(repository: Path) -> None:
    text = guide(repository)
    cells = [re.findall(r"`([^`]+)`", line) for line in text.splitlines() if line.startswith("| `")]
    columns = (points._INTENSITY, points._RATE, points._NAME, points._SIDE)
    by_name = {column.name: column for column in columns}
    for name, *others in cells[:4]:
        found = [by_name[name].find([f" {other.upper()}"]) for other in (name, *others)
                 if other not in ("cold", "warm")]  # fmt: skip
        assert all(found), (name, others, found)
    assert tuple(row[0] for row in cells[4:]) == figures.SUFFIXES
    assert f"{figures.PRINT} dots per inch" in text and f"{figures.FULL:g} is what" in text


def test_the_smallest_letters_have_the_points_that_are_promised(repository: Path) -> None:
    assert "never below 6 points" in guide(repository)
    assert figures.LEAST * (theme.SMALL - 1.5) >= 6


def test_the_readme_leads_to_it(repository: Path) -> None:
    assert "(docs/figures.md)" in (repository / "README.md").read_text("utf-8")

"""The pictures in the learners' notebooks, as a repository's page shows them."""

from __future__ import annotations

from base64 import b64decode
from io import BytesIO
from pathlib import Path

import nbformat
from PIL import Image

HIGH = 760  # pixels of a screen below a browser's bars
EMPTY = 0.02  # letters of base64 a pixel; a white sheet has 0.006


def test_no_two_are_alike_none_is_empty_and_none_is_taller_than_a_screen(repository: Path) -> None:
    seen: dict[str, str] = {}
    for lesson in sorted((repository / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        for cell in nbformat.read(lesson, as_version=4).cells:
            for output in cell.get("outputs", []):
                png = output.get("data", {}).get("image/png")
                if not png:
                    continue
                where = f"{lesson.stem}: {cell.source[:60]}"
                assert png not in seen, (where, seen.get(png))
                seen[png] = where
                with Image.open(BytesIO(b64decode(png))) as picture:
                    assert picture.height / 2 <= HIGH, where
                    assert len(png) > EMPTY * picture.width * picture.height, where
    assert len(seen) > 50

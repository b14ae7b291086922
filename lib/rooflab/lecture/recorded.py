"""The outputs saved in a notebook, as plain data that a page can draw again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STAMP = "recorded"  # under notebook.metadata.rooflab


def recorded(cells: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What every cell with an id and an output showed, by the cell's id.

    cells: code and text cells of a notebook (nbformat 4.5). An output becomes {"png", "alt"},
    {"html"} or {"text"}, the first of these that it has; an empty one and an error are left out.
    A covered one also has "under": {"png", "alt"} of what it covers, and two pictures in one
    have "cut", the share of the height at which they meet. Words that were still covered, and the
    note that a picture is a still, are left out: they say nothing of what was measured.
    """
    found = {}
    for cell in cells:
        outputs = [shown for output in cell.get("outputs", ()) if (shown := _shown(output))]
        if outputs and cell.get("id"):
            found[str(cell["id"])] = _joined(outputs)
    return found


def _shown(output: Mapping[str, Any]) -> dict[str, Any] | None:
    data, told = output.get("data", {}), output.get("metadata", {})
    own = told.get("rooflab", {})
    if own.get("waits") or own.get("still"):
        return None
    plain = _text(data.get("text/plain") or output.get("text"))
    if "image/png" in data:
        alt = told.get("image/png", {}).get("alt")
        picture = {"png": _text(data["image/png"]).replace("\n", ""), "alt": alt or plain}
        return picture | {name: own[name] for name in ("under", "cut") if name in own}
    if "text/html" in data:
        return {"html": _text(data["text/html"])}
    return {"text": plain} if plain.strip() else None


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Printed lines that follow each other become one text, as a notebook shows them."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        if joined and set(output) == set(joined[-1]) == {"text"}:
            joined[-1] = {"text": joined[-1]["text"].rstrip("\n") + "\n" + output["text"]}
        else:
            joined.append(output)
    return joined


def _text(value: object) -> str:
    # In the file a text is one string or a list of lines.
    lines = value if isinstance(value, list) else [value or ""]
    return ESCAPE.sub("", "".join(map(str, lines)))


def digest(cells: Iterable[Mapping[str, Any]]) -> str:
    """A fingerprint of all outputs: a stamp counts only for the outputs that it was made for."""
    text = json.dumps(recorded(cells), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamp(cells: Iterable[Mapping[str, Any]], machine: str, day: date) -> dict[str, str]:
    """What a build writes beside the outputs: where and when they were made."""
    return {"machine": machine, "day": day.isoformat(), "outputs": digest(cells)}


def origin(notebook: Mapping[str, Any]) -> str:
    """Words on where a notebook's outputs come from; an unknown origin is said to be one."""
    cells = notebook.get("cells", ())
    given = notebook.get("metadata", {}).get("rooflab", {}).get(STAMP, {})
    if given and given.get("outputs") == digest(cells):
        day = date.fromisoformat(given["day"])
        return f"recorded on {given['machine']}, {day.day} {day:%B %Y}"
    return "saved in this notebook; machine and day are unknown"

"""What ``course.py lab`` does to a notebook before it is saved: forget pictures nobody sees.

Jupyter saves the state of every widget that it has ever heard of. A cell that is run ten times
leaves ten pictures, and the file would grow with each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
LINKS = ("LinkModel", "DirectionalLinkModel")
# How a widget names another: as a part of it, or as something that stands in an Output widget.
REFERENCE = re.compile(r'"(?:IPY_MODEL_|model_id": ")([^"]+)"')


def drop_unseen(model: Mapping[str, Any], **more: Any) -> None:
    """Leave in a notebook the state of those widgets that its outputs show, and nothing else.

    ``model``: what is saved, as Jupyter's contents manager has it (its hook ``pre_save_hook``).
    """
    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict):
        return
    states = content.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state")
    if states:
        seen = _reached(states, set(_shown(content)))
        for id in set(states) - seen:
            del states[id]


def _shown(content: Mapping[str, Any]) -> Iterator[str]:
    for cell in content.get("cells", ()):
        for output in cell.get("outputs", ()):
            yield from filter(None, [output.get("data", {}).get(VIEW, {}).get("model_id")])


def _reached(states: Mapping[str, Any], shown: set[str]) -> set[str]:
    """The widgets ``shown``, all that is part of them, and the links from one of them to another."""
    parts = {id: set(REFERENCE.findall(json.dumps(one["state"]))) for id, one in states.items()}
    found = _parts_of(shown, parts)
    links = {id for id, one in states.items() if one["model_name"] in LINKS and parts[id] <= found}
    return found | links


def _parts_of(ids: set[str], parts: Mapping[str, set[str]]) -> set[str]:
    found, new = set(), ids & parts.keys()
    while new:
        found |= new
        new = set().union(*(parts[id] for id in new)) & parts.keys() - found
    return found

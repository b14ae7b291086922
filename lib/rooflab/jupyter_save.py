"""What ``course.py lab`` does to a notebook before it is saved: forget pictures nobody sees.

Jupyter saves the state of every widget that it has ever heard of. A cell that is run ten times
leaves ten pictures, and the file would grow with each of them. A progress bar that has come to its
end leaves an output without a state, and the notebook would open with an error in its place. And
a notebook that is opened, not run and saved would lose its pictures. What a learner has uncovered
is uncovered in its still picture, too, for places where no widget moves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
LINKS = ("LinkModel", "DirectionalLinkModel")
# How a widget names another: as a part of it, or as something that stands in an Output widget.
REFERENCE = re.compile(r'"(?:IPY_MODEL_|model_id": ")([^"]+)"')


def drop_unseen(
    model: Mapping[str, Any], path: str = "", contents_manager: Any = None, **more: Any
) -> None:
    """Leave in a notebook the state of those widgets that its outputs show, and nothing else.

    Jupyter drops the state of a widget that was not run since the notebook was opened. The file
    as it was still has it, and it is taken from there. An output whose widget has no state falls
    back to its still picture; one that has only plain text to fall back to is left out.

    ``model``: what is saved at ``path``, as Jupyter's contents manager has it (its hook
    ``pre_save_hook``).
    """
    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict):
        return
    states = content.get("metadata", {}).get("widgets", {}).get(STATE, {}).get("state")
    if states is None:  # Jupyter was asked to save no state
        return
    shown = set(_shown(content))
    if shown - states.keys():
        before = _state_in(path, contents_manager)
        states.update({id: before[id] for id in before.keys() - states.keys()})
    for id in states.keys() - _reached(states, shown):
        del states[id]
    for cell in content.get("cells", ()):
        if "outputs" in cell:
            cell["outputs"] = [one for one in cell["outputs"] if _is_left(one, states)]
            if "nbval-check-output" not in cell.get("metadata", {}).get("tags", ()):
                for output in cell["outputs"]:
                    _uncover(output, states)


def _state_in(path: str, contents_manager: Any) -> dict[str, Any]:
    """The widgets' state in the file that is about to be written over; empty if it has none."""
    try:
        text = Path(contents_manager.root_dir, path.strip("/")).read_text("utf-8")
        state: dict[str, Any] = json.loads(text)["metadata"]["widgets"][STATE]["state"]
        return state
    except (AttributeError, OSError, ValueError, KeyError, TypeError):
        return {}


def _is_left(output: dict[str, Any], states: Mapping[str, Any]) -> bool:
    """Whether an output still shows something, once it has lost a widget without state."""
    data = output.get("data", {})
    if VIEW not in data or data[VIEW].get("model_id") in states:
        return True
    del data[VIEW]
    return not data.keys() <= {"text/plain"}


def _uncover(output: dict[str, Any], states: Mapping[str, Any]) -> None:
    """Put in the place of a cover's still what a learner has uncovered."""
    about, data = output.get("metadata", {}), output.get("data", {})
    under = about.get("rooflab", {}).get("under")
    widget = states.get(data.get(VIEW, {}).get("model_id"), {}).get("state", {})
    if under and widget.get("covered") is False:
        data |= {"image/png": under["png"], "text/plain": under["alt"]}
        about["image/png"] = {"alt": under["alt"]}


def _shown(content: Mapping[str, Any]) -> Iterator[str]:
    for cell in content.get("cells", ()):
        for output in cell.get("outputs", ()):
            yield from filter(None, [output.get("data", {}).get(VIEW, {}).get("model_id")])


def _reached(states: Mapping[str, Any], shown: set[str]) -> set[str]:
    """The widgets ``shown``, all that is part of them, and the links between any two of them."""
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

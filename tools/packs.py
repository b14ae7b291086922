"""The moving pictures of an executed notebook as files that ``assets/site/runtime.js`` reads.

A widget's script and style are kept once for all widgets that have the same; a widget's data is a
pack for each output. A page names them by their content. They lie in a folder beside the pages of
a site (`Folder`), or in the page itself where it is a single file (`Inside`).
"""

from __future__ import annotations

import html
import json
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from PIL import Image

from tools.outputs import WIDGET_STATE, WIDGET_VIEW

Models = dict[str, dict[str, Any]]
Wrapping = Callable[[str], str] | None

#: What runtime.js draws, and what it reads of others to draw them.
DRAWN = {"AnyModel", "HBoxModel", "VBoxModel"}
READ = {"LayoutModel"}
PRIVATE = {"_dom_classes"}  # of the traits with an underscore, those it reads
REFERENCE = re.compile(r"IPY_MODEL_([^\"]+)")
EXPORT = re.compile(r"^export\s+default\s+", re.M)
MODULE = re.compile(r"^\s*(?:import|export)\b(?!\s*\()", re.M)
NAME = re.compile(r"[0-9a-f]{16}\.(?:js|css|webp)")
PICTURE = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=]+)")
PNG = b64encode(b"\x89PNG\r\n\x1a\n").decode()[:10]  # how one begins in base64


class Folder:
    """A shelf that is a folder beside the pages."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, text: str, ending: str, wrapped: Wrapping = None) -> str:
        """Keep `text`, or what ``wrapped(name)`` makes of it; its name, which tells its content."""
        name = _name(text.encode(), ending)
        (self.path / name).write_text(wrapped(name) if wrapped else text, "utf-8")
        return name

    def picture(self, png: bytes) -> str:
        """Keep a picture; what an ``<img>`` has as its ``src``."""
        name = _name(png, "webp")
        if not (self.path / name).exists():
            (self.path / name).write_bytes(_smaller(png))
        return f"{self.path.name}/{name}"


class Inside:
    """A shelf that is the page itself: ``texts`` holds what it has to carry, by name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, text: str, ending: str, wrapped: Wrapping = None) -> str:
        name = _name(text.encode(), ending)
        self.texts[name] = wrapped(name) if wrapped else text
        return name

    def picture(self, png: bytes) -> str:
        return f"data:image/webp;base64,{b64encode(_smaller(png)).decode()}"

    def all(self, ending: str) -> list[str]:
        """The texts of all files whose names end like this: "js" or "css"."""
        return [text for name, text in self.texts.items() if name.endswith(f".{ending}")]


Shelf = Folder | Inside
"""Where a page's files lie."""


def _name(content: bytes, ending: str) -> str:
    return f"{sha256(content).hexdigest()[:16]}.{ending}"


def _smaller(png: bytes) -> bytes:
    """The same pixels as WebP: about a third of the bytes."""
    file = BytesIO()
    Image.open(BytesIO(png)).save(file, "WEBP", lossless=True, quality=80, method=4)
    return file.getvalue()


def shelve(notebook: NotebookNode, shelf: Shelf) -> None:
    """Put every widget of `notebook` on the `shelf`; its view becomes the place it is drawn in.

    The state leaves the notebook's metadata. A widget that runtime.js does not draw is named on
    stderr, and its output shows the picture or the text that came with it.
    """
    models: Models = notebook.metadata.pop("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    number = 0
    for output in (one for cell in notebook.cells for one in cell.get("outputs", [])):
        top = output.get("data", {}).pop(WIDGET_VIEW, {}).get("model_id")
        if top not in models:
            continue
        whole = _closure(top, models)
        kinds = {models[id]["model_name"] for id in whole}
        strange = {kind for kind in kinds - DRAWN - READ if not kind.endswith("StyleModel")}
        if strange:
            print(f"a page does not move {', '.join(sorted(strange))}", file=sys.stderr)
            continue
        number += 1
        place = f'id="picture-{number}" {_room(output.data.get("image/png"))}'
        output.data["text/html"] = f"<div {place} {_pack(top, whole, models, shelf)}>"
        output.metadata["slot"] = True


def _closure(top: str, models: Models) -> list[str]:
    """`top`, and all that it refers to."""
    found, waiting = dict[str, None](), [top]
    while waiting:
        id = waiting.pop()
        if id in models and id not in found:
            found[id] = None
            waiting += REFERENCE.findall(json.dumps(models[id]["state"]))
    return [*found]


def _room(png: str | None) -> str:
    """Attributes of a place that is as high as a picture's still until the picture is drawn."""
    if png is None:
        return 'class="rl-slot"'
    wide, high = Image.open(BytesIO(b64decode(png))).size  # twice as many pixels as on the page
    return f'class="rl-slot" style="min-height: min({high // 2}px, {100 * high // wide}vw)"'


def _pack(top: str, ids: list[str], models: Models, shelf: Shelf) -> str:
    """Put these widgets on the `shelf`; the attributes of the place where `top` is drawn."""
    pack = {id: _packed(models[id], shelf) for id in ids}
    text = json.dumps(pack, ensure_ascii=False, separators=(",", ":"))
    text = PICTURE.sub(lambda found: shelf.picture(b64decode(found[1])), text)
    name = shelf.put(text, "js", lambda name: _given(name, f"return ({text});"))
    holds = " ".join(id for id, one in pack.items() if one["kind"] in DRAWN)
    model, held = html.escape(top), html.escape(holds)
    return f'data-pack="{name}" data-model="{model}" data-holds="{held}"'


def _packed(model: dict[str, Any], shelf: Shelf) -> dict[str, Any]:
    """A widget as runtime.js reads it: its kind, its traits, and those of them that are bytes."""
    kept, kind = dict(model["state"]), model["model_name"]
    state = {key: value for key, value in kept.items() if key[0] != "_" or key in PRIVATE}
    if kind == "AnyModel":
        body = classic(kept["_esm"])
        state["script"] = shelf.put(body, "js", lambda name: _given(name, body))
        if kept.get("_css"):
            state["style"] = shelf.put(kept["_css"], "css")
    else:
        state = {key: value for key, value in state.items() if value is not None}
    buffers = [[one["path"], _bytes(one["data"])] for one in model.get("buffers", ())]
    return {"kind": kind, "state": state} | ({"buffers": buffers} if buffers else {})


def _bytes(data: str) -> str:
    """A trait of bytes in base64; of a picture its smaller form, which browsers tell by itself."""
    return b64encode(_smaller(b64decode(data))).decode() if data.startswith(PNG) else data


def classic(esm: str) -> str:
    """A module with one ``export default`` as the body of a function that returns it.

    A browser loads no modules from disk. Raises ValueError for a module that imports others, or
    exports more.

    >>> print(classic("const a = 1;\\nexport default { a };"))
    "use strict"; let exported;
    const a = 1;
    exported = { a };
    return exported;
    """
    body, count = EXPORT.subn("exported = ", esm)
    if count != 1 or MODULE.search(body):
        raise ValueError(
            "a widget's script on a static page must have one line that begins with"
            f" 'export default', and no other import or export: {esm[:60]!r}…"
        )
    return f'"use strict"; let exported;\n{body.rstrip()}\nreturn exported;'


def _given(name: str, body: str) -> str:
    return f'rooflabPage.give("{name}", () => {{ {body}\n}});\n'


def image(png: str, words: str, shelf: Shelf) -> str:
    """The tag of a picture (base64), which a browser loads when it comes near."""
    raw = b64decode(png)
    wide, high = Image.open(BytesIO(raw)).size
    return (
        f'<img loading="lazy" decoding="async" src="{shelf.picture(raw)}"'
        f' width="{wide}" height="{high}" alt="{html.escape(words)}">'
    )


def asked_for(page: str, folder: Path) -> set[str]:
    """The names of all files in `folder` that a page, given as its text, may ever load."""
    found: set[str] = set()
    texts = [page]
    while texts:
        new = set(NAME.findall(texts.pop())) - found
        found |= new
        texts += [(folder / name).read_text("utf-8") for name in new if name.endswith(".js")]
    return found


def sweep(site: Path, folder: Path) -> None:
    """Delete what lies in the `folder` of a `site` and no page asks for any more."""
    pages = [asked_for(page.read_text("utf-8"), folder) for page in site.glob("*.html")]
    for file in folder.iterdir():
        if NAME.fullmatch(file.name) and not any(file.name in names for names in pages):
            file.unlink()

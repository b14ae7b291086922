"""What waits for a guess and comes by itself after it: printed lines, conclusions, a picture."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import traitlets

from rooflab.show import overlay
from rooflab.show.covered import Waiting, awaited


class Said(Waiting):
    """The words and what they wait for. Make one with ``rl.show.say``."""

    _esm = overlay.source("overlay.js", "said.js")
    _css = overlay.source("said.css")
    page = traitlets.Unicode().tag(sync=True)

    def __init__(self, what: Sequence[Any], after: Sequence[Any]) -> None:
        self.what = tuple(what)
        super().__init__(after, page=_page(self.what), model_id=overlay.free_model_id("said"))

    def __repr__(self) -> str:
        return self.sentence if self.covered else "\n".join(map(str, self.what))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        live = super()._repr_mimebundle_(**kwargs)
        data = dict((live[0] if isinstance(live, tuple) else live) or {})
        data["text/plain"] = repr(self)
        if not self.covered:
            data["text/markdown"] = _markdown(self.what)
        # A lecture shows no recording of what was covered when it was recorded.
        return data, {"rooflab": {"waits": True}} if self.covered else {}


def say(*what: object, after: object) -> Said:
    """Show ``what`` as soon as the guesses ``after`` are made; until then, only that it waits.

    ``what``: texts, shown like printed lines, sentences of ``rl.conclude``, and pictures of
    ``rl.show``. ``after``: what ``rl.ask`` or ``rl.sort`` returned, one or several.

    Raises TypeError where there is nothing to say, and for an ``after`` that is never covered.
    """
    if not what:
        raise TypeError("what: give at least one text, picture or sentence of rl.conclude")
    things = awaited(after)
    if not things:
        raise TypeError(f"after={after!r} must be what rl.ask returned, one or several")
    return Said(what, things)


def _parts(what: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """What is said, by its kind: printed lines that follow each other belong together."""
    for kind, ones in groupby(what, key=_kind):
        if kind == "printed":
            yield kind, ["\n".join(map(str, ones))]
        else:
            yield kind, list(ones)


def _kind(one: Any) -> str:
    if hasattr(one, "savefig"):
        return "picture"
    return "sentence" if hasattr(one, "_repr_markdown_") else "printed"


def _page(what: Sequence[Any]) -> str:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    write = {
        "picture": _image,
        "sentence": lambda one: reader.render(one._repr_markdown_()),
        "printed": lambda text: f"<pre>{html.escape(text)}</pre>",
    }
    return "".join(write[kind](one) for kind, ones in _parts(what) for one in ones)


def _image(picture: Any) -> str:
    data = b64encode(overlay.png(picture, transparent=False)).decode("ascii")
    return f'<img alt="{html.escape(_words(picture))}" src="data:image/png;base64,{data}">'


def _words(picture: Any) -> str:
    return getattr(picture, "words", "") or "A picture; the text around it says what it shows."


def _markdown(what: Sequence[Any]) -> str:
    write = {
        "picture": _words,
        "sentence": lambda one: one._repr_markdown_(),
        "printed": lambda text: f"```text\n{text}\n```",
    }
    return "\n\n".join(write[kind](one) for kind, ones in _parts(what) for one in ones)

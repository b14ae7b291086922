"""The catalogue of language models: sizes and sources (models.yaml), found by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from reprlib import repr as short
from types import MappingProxyType
from typing import Any

from rooflab.count.validation import unknown
from rooflab.labs.llm.model import Model
from rooflab.predict.catalogue import VagueName, tables

# What people add to a name that does not change the sizes.
_SUFFIX = re.compile(r"-(hf|base|chat|instruct|it|v0\.1)$")

# Releases with the sizes, and the trained context, of another one.
_SAME = {"llama-3.3-70b": "llama-3.1-70b", "deepseek-r1": "deepseek-v3"}


def document() -> Mapping[str, Any]:
    """Return models.yaml as it is: the sources, and each model's sizes and published total."""
    read: Mapping[str, Any] = tables("labs.llm", "models")
    return read


@cache
def models() -> Mapping[str, Model]:
    """Return the catalogue: name → Model, read-only, in the order of models.yaml.

    >>> rl.models()["gpt2"].parameters
    124439808
    """
    titles, found = document()["sources"], {}
    for row in document()["models"]:
        sizes = {key: value for key, value in row.items() if key not in ("parameters", "source")}
        found[row["name"]] = Model(**sizes, source=tuple(titles[key] for key in row["source"]))
    return MappingProxyType(found)


def model(name: str | Model) -> Model:
    """Return the catalogue model ``name``: ``"llama-2-7b"`` = ``"meta-llama/Llama-2-7b-hf"``.

    Sizes of one's own go into ``rl.Model(hidden=…, …)``.

    Parameters
    ----------
    name : str or Model
        One of :func:`models`, in any case, with or without its owner and "-hf", "-chat" and the
        like. A Model is returned as it is.

    Returns
    -------
    Model
        Its sizes, with their sources in ``source``.

    Raises
    ------
    VagueName
        For a vague name ("llama"), with what it could mean; it is a ValueError.

    Examples
    --------
    >>> rl.model("meta-llama/Llama-2-7b-hf")
    <Model llama-2-7b: 6.74 G parameters, 32 layers of 4096 (32 heads of 128; MLP 11008 gated), ...>
    """
    if isinstance(name, Model):
        return name
    if not isinstance(name, str):
        raise TypeError(f"model={short(name)} must be a model's name or a Model")
    known, key = {_bare(id): found for id, found in models().items()}, _bare(_key(name))
    if key in known:
        return known[key]
    meant = [found.name for bare, found in known.items() if key and key in bare]
    if len(meant) > 1:
        raise VagueName(f"model={name!r} is vague; it could mean {', '.join(meant)}")
    raise unknown("model", name, models())


def _key(name: str) -> str:
    """The name in lower case, without its owner and without what does not change the sizes."""
    key = re.sub(r"[\s_]+", "-", name.strip().lower()).rpartition("/")[2]
    key = key.removeprefix("meta-")
    while (shorter := _SUFFIX.sub("", key)) != key:
        key = shorter
    return _SAME.get(key, key)


def _bare(key: str) -> str:
    return re.sub(r"[-.]", "", key)  # llama2-7b and llama-2-7b are one

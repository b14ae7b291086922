"""The texts of a packed picture, each kept once: tables in the browser are indices into them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Pool:
    """Strings, each kept once."""

    texts: list[str] = field(default_factory=list)
    _index: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """Return the index of ``text``."""
        if text not in self._index:
            self._index[text] = len(self.texts)
            self.texts.append(text)
        return self._index[text]

    def table(self, texts: Iterable[str]) -> bytes:
        """Return the indices of ``texts`` as little-endian 16-bit integers."""
        indices = [self.add(text) for text in texts]
        if len(self.texts) > 65536:
            raise ValueError("more than 65536 different texts; give fewer sizes or dtypes")
        return np.array(indices, "<u2").tobytes()

"""Words of a film's still keep apart, as Matplotlib draws them."""

from __future__ import annotations

import pytest

import rooflab as rl
from rooflab.show.scene import painter
from tests.support.text_overlap import overlapping


@pytest.mark.parametrize("model", ["llama-2-7b", "mixtral-8x7b"])
@pytest.mark.parametrize("batch", [1, 8, 512])
@pytest.mark.parametrize("context", [32, 4096, 131072])
def test_no_word_of_a_films_still_lies_on_another(model: str, batch: int, context: int) -> None:
    film = rl.live.film(model, "rtx-4090", batch=batch, context=context)
    for sheet in film.sheets:
        assert overlapping(painter.figure(sheet, film.states())) == []

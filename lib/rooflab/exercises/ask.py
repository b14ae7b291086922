"""``rl.ask``: guess with a click on an empty log axis, the result covered underneath."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from rooflab.exercises import guesses
from rooflab.exercises.guesses import question
from rooflab.optional import installed

if TYPE_CHECKING:
    from rooflab.show.guess_axis import GuessAxis


@installed("rooflab.ask")
def ask(
    id: str,
    result: object,
    *,
    picture: object = b"",
    sentence: str = "",
    marks: Mapping[str, float] = MappingProxyType({}),
) -> GuessAxis:
    """Return the axis on which to guess ``id``; ``result`` waits covered until there is a guess.

    Parameters
    ----------
    id : str
        A question of the lessons, such as "01-speed-ratio".
    result : float or str
        The measured number in the question's unit, above 0, or the right answer; it is recorded.
    picture : matplotlib figure or bytes
        A figure or the bytes of a PNG, uncovered with ``result``; by default none.
    sentence : str
        Uncovered with ``result``; by default the ``words`` of the picture, where it has some.
    marks : mapping of str to float
        Words → a number known already, drawn on the axis. Who guesses what a usual slip makes of
        the first of them is told so. By default none.

    Returns
    -------
    GuessAxis
        A widget; ``covered`` turns False with the first guess.

    Examples
    --------
    >>> rl.ask("01-speed-ratio", 100.0).covered
    True
    >>> _ = rl.guess("01-speed-ratio", 300)
    >>> axis = rl.ask("01-speed-ratio", 100.0)
    >>> axis.covered, axis.value
    (False, 300.0)
    """
    from rooflab.show import canvas, guess_axis

    if hasattr(picture, "savefig"):
        sentence = sentence or getattr(picture, "words", "")
        picture = canvas.png(picture, transparent=False)

    asked = question(id)
    measured = asked.answer("result", result)
    guesses.outcome(asked.id, measured)
    known = next(iter(marks.values()), None)
    slips = {said: factor * known for factor, said in asked.slips} if known else {}
    return guess_axis.guess(
        asked.id, asked.text, result=measured, unit=asked.unit, low=asked.low, high=asked.high,
        picture=picture, sentence=sentence, store=guesses, marks=marks, slips=slips,
        answers=asked.answers,
    )  # fmt: skip

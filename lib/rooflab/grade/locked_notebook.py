"""What goes into a run and what comes out: a locked notebook, and an outcome.

merge.py makes a :class:`Locked`. launch.py or local_kernel.py turns it into an :class:`Outcome`.
verdicts.py judges that.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rooflab.exercises.exercise import Case, Observation
from rooflab.grade.inside.protocol import MARK

if TYPE_CHECKING:
    from nbformat import NotebookNode

# The role of a cell, in its metadata: the lesson's, an answer, the learner's other code, a check.
GIVEN, ANSWER, OWN, CHECK = "given", "answer", "own", "check"
END = 10  # tries from this number on are made at the end of the notebook
FOLLOW = 20  # and from this one on with right answers in place of the learner's earlier ones
ENDED = (
    "it ended the program that runs the answers: {}"  # why, for the exercise that ended a kernel
)
LOST = "the runner was killed"  # Outcome.stopped when our side died, not the learner's kernel


@dataclass(frozen=True)
class Locked:
    """A notebook to run: the lesson's given cells, the learner's own and answer cells, check cells.

    Every code cell's metadata holds ``{"rooflab": {"role": GIVEN | OWN | ANSWER | CHECK}}`` and,
    in an answer or check cell, ``"exercise"``: its id. A check cell that is not the first of its
    exercise has its number as ``"try"``, and so has an own cell that is there for try FOLLOW alone.
    ``cases``: exercise id → its drawn cases. ``nonce``: a secret of this run; only :meth:`word`,
    which is made from it, goes into the notebook. ``names``: exercise id → what its answer is
    called. ``flags``: remarks for the feedback.
    """

    notebook: NotebookNode
    lesson: str
    cases: Mapping[str, Sequence[Case]]
    nonce: str
    names: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def word(self, exercise: str) -> str:
        """Return the text that the result line of ``exercise`` must carry: 32 hex digits.

        One exercise's word says nothing about the next one's.
        """
        key = self.nonce.encode("utf-8")
        return hmac.new(key, exercise.encode("utf-8"), hashlib.sha256).hexdigest()[:32]


@dataclass(frozen=True)
class Outcome:
    """What came out of a run, as plain data from a process that is not trusted.

    ``observations``: exercise id → one observation a case, where the result line came back.
    ``again``: exercise id → number of a further try → its observations.
    ``reasons``: exercise id → why nothing came back ("the kernel died", "stopped after 45 s").
    ``printed``: exercise id → what the learner's answer cell showed (text, cut, never HTML).
    ``stopped``: why the whole run ended early, if it did. Every exercise of the locked notebook is
    either in ``observations`` or in ``reasons``.
    """

    observations: Mapping[str, Sequence[Observation]]
    reasons: Mapping[str, str] = field(default_factory=dict)
    printed: Mapping[str, str] = field(default_factory=dict)
    stopped: str | None = None
    again: Mapping[str, Mapping[int, Sequence[Observation]]] = field(default_factory=dict)


def check_source(
    word: str, exercise: str, kind: str, cases: Sequence[Case], name: str, again: bool = False
) -> str:
    """Return the source of a check cell; ``name`` is the learner's name of the answer.

    ``again``: a further try, which does nothing where nothing has changed. ``cases`` are written
    out as Python literals, so they must be plain data.
    """
    drawn = [dict(case) for case in cases]
    more = ", again=True" if again else ""
    return (
        "from rooflab.grade.inside.kernel import report as _report\n"
        f"_report({word!r}, {exercise!r}, {kind!r}, {drawn!r}, lambda: {name}{more})"
    )


def lock_source(derives: Sequence[str]) -> str:
    """Return the source of a given cell that locks rooflab functions (``Exercise.derives``).

    It goes right before the answer cell; the exercise's check cell unlocks them again.
    """
    return f"from rooflab.grade.inside.kernel import lock as _lock\n_lock({list(derives)!r})"


def result_lines(text: str, word: str, exercise: str) -> list[str]:
    """Return the data of every line of ``text`` that carries the right word."""
    start = f"{MARK} {word} {exercise} "
    return [line[len(start) :] for line in text.split("\n") if line.startswith(start)]


def parsed(line: str) -> list[Observation] | None:
    """Return the observations of a result line, or None when they are no plain list of them."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        return None
    return found

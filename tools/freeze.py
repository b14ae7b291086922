"""Freeze what a predict-then-measure exercise asks of a recorded machine.

    python -m tools.freeze 03-predict epyc-2core-vm

Writes the exercise's file in lib/rooflab/course/lesson03 or lesson04: the cases of the recording
that are fair to ask by the rule in exercises.py there, and where they are from. A new recording
changes no exercise until somebody runs this; then every class, also one that is half graded, is
asked other cases.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from rooflab.course.lesson03 import exercises as lesson03
from rooflab.course.lesson04 import exercises as lesson04
from rooflab.course.timed_cases import timed_cases_text
from rooflab.measure.atomic_file import replace_file

RULES = {"03-predict": lesson03, "04-predict": lesson04}


def main(arguments: Sequence[str] | None = None) -> int:
    """Freeze the recording that is named; return 1, writing nothing, where it is too noisy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("exercise", choices=RULES)
    parser.add_argument("recording", help="its name, such as epyc-2core-vm")
    chosen = parser.parse_args(arguments)
    rule = RULES[chosen.exercise]
    kept, entries = rule.entries_of(chosen.recording)
    counts = Counter(entry.kind for entry in entries)
    few = [f"{counts[kind]} of kind {kind}" for kind in rule.KINDS if counts[kind] < rule.FEWEST]
    if few:
        print(f"{kept.name} of {kept.recorded_on}: fair to ask are only {', '.join(few)}; "
              f"{rule.FEWEST} are needed, so record again on a quieter machine")  # fmt: skip
        return 1
    replace_file(rule.FROZEN, timed_cases_text(kept, entries))
    print(f"{rule.FROZEN}: {counts.total()} cases of {kept.name}, recorded {kept.recorded_on}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Hostile submissions for three graders, of which two run them without a sandbox.

Only what harms nobody else on the machine, and four that are aimed at the other graders. In each
one answer is an attack; the rest is right.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.grading_peers import right
from tests.grade.support.pupils import ATTACKS, aimed

AT = "00-peak"  # the exercise that is attacked
HARMLESS = (
    "os._exit in the function (ends the kernel)", "segfault in the function (ends the kernel)",
    "broken kernel (ends the kernel)", "loop in the function (costs one exercise)",
    "always equal (costs one exercise)", "raises everything (costs one exercise)",
    "input (costs one exercise)", "reset (costs one exercise)",
    "syntax error (costs one exercise)", "fake line (costs one exercise)",
    "builtins (tampers)", "run_cell (tampers)", "numpy (tampers)", "import hook (tampers)",
)  # fmt: skip
AIMED_AT_PEERS = {
    "asserts taken out": """
def _strip(lines): return [line.replace("assert ", "0 and ") for line in lines]
get_ipython().input_transformers_cleanup.append(_strip)
def f1(m, n): return 0""",
    "comparison replaced": """
np.allclose = np.isclose = lambda *a, **k: True
def f1(m, n): return 0""",
    "checker replaced": """
try:
    import otter.test_files.abstract_test as t
    make = t.TestCaseResult
    def passing(test_case, message, passed): return make(test_case, "", True)
    from otter.test_files import exception_test, ok_test
    ok_test.TestCaseResult = exception_test.TestCaseResult = passing
except Exception: pass
def f1(m, n): return 0""",
    "solution read from the disk": """
import glob, json
def _look():
    for file in glob.glob(HERE + "/**/*.ipynb", recursive=True):
        try: cells = json.load(open(file))["cells"]
        except Exception: continue
        for cell in cells:
            source = "".join(cell.get("source", ""))
            if "def f1(" in source and "return 2 *" in source and "_look" not in source:
                return source
exec(_look() or "f1 = None")""",
}


def hostile(here: Path) -> dict[str, dict[str, str]]:
    """Name → answers, of which AT is an attack; ``here``: where the solution lies."""
    found = {}
    for name, source in {**{n: ATTACKS[n] for n in HARMLESS}, **AIMED_AT_PEERS}.items():
        found[name] = {**right(), AT: aimed(source, AT, str(here))}
    return found

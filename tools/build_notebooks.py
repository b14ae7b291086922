"""Make the notebooks from their sources, or check that they still match.

    python tools/build_notebooks.py [LESSON …]           write and execute both copies
    python tools/build_notebooks.py --check [LESSON …]   change nothing; exit 1 on a difference

Building runs every notebook from a fresh kernel (see tools/execute.py) in a temporary folder,
so that a lesson that writes a file leaves none behind. Saved are outputs without widget state,
widget views (a picture or text stays in their place), timings or kernel details. Checking does
not run anything: it compares cells, tags, ids and metadata, and looks at the saved outputs;
whether these are right is nbval's business (tests/notebooks).
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode

REPOSITORY = Path(__file__).resolve().parent.parent
if str(REPOSITORY) not in sys.path:  # so that running this file works as well as importing it
    sys.path.insert(0, str(REPOSITORY))

from rooflab.lecture.present import STAMP, stamp  # noqa: E402
from rooflab.measure.backend import cpu_name  # noqa: E402
from tools.execute import run_notebook  # noqa: E402
from tools.house_rules import broken_rules  # noqa: E402
from tools.lesson import KERNEL, Lesson, LessonError, read_lesson  # noqa: E402
from tools.outputs import WIDGET_VIEW, drop_bars  # noqa: E402

# Below each saved picture that would move: without it one clicks on a still, and nothing happens.
STILL = "*A still picture of an earlier run. Run the cells from the top, and it moves.*"
MOST_SHOWN = 5  # differences a notebook; a lesson not built for a while differs everywhere
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


def copies(lesson: Lesson, notebooks: Path) -> dict[Path, NotebookNode]:
    """Where each of a lesson's notebooks belongs."""
    return {
        notebooks / f"{lesson.name}.ipynb": lesson.learner,
        notebooks / "solutions" / f"{lesson.name}.ipynb": lesson.solution,
    }


def build(lesson: Lesson, notebooks: Path) -> None:
    """Execute both copies and write them. Raises LessonError or RuntimeError, writing nothing."""
    broken = broken_rules(lesson)
    if broken:
        raise LessonError("\n".join(broken))
    made = copies(lesson, notebooks)
    for path, notebook in made.items():
        print(f"running {path.relative_to(notebooks.parent)}", flush=True)
        with tempfile.TemporaryDirectory(prefix="rooflab-build-") as folder:
            run_notebook(notebook, str(path.relative_to(notebooks)), Path(folder))
        tidy(notebook)
        today = datetime.now(UTC).date()
        notebook.metadata["rooflab"][STAMP] = stamp(notebook.cells, cpu_name(), today)
    for path, notebook in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


def tidy(notebook: NotebookNode) -> None:
    """Drop from an executed notebook what must not be committed."""
    drop_bars(notebook)
    notebook.metadata.pop("widgets", None)
    # The kernel reports its exact version; the canonical metadata says only "Python".
    notebook.metadata["language_info"] = nbformat.from_dict(KERNEL["language_info"])
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.pop("transient", None)
        if "outputs" in cell:
            kept = [shown for output in cell.outputs for shown in _without_widget(output)]
            cell.outputs = [output for output in kept if output.get("data", True)]


def _without_widget(output: NotebookNode) -> list[NotebookNode]:
    """A widget's output as its picture or text; after a picture, a note that it is still."""
    moves = output.get("data", {}).pop(WIDGET_VIEW, None) is not None
    if not moves or "image/png" not in output.data or "Covered until" in output.data["text/plain"]:
        return [output]
    data = {"text/markdown": STILL, "text/plain": STILL.strip("*")}
    note = nbformat.v4.new_output("display_data", data, metadata={"rooflab": {"still": True}})
    return [output, note]


def differences(lesson: Lesson, notebooks: Path) -> list[str]:
    """How the committed notebooks of a lesson differ from what its source gives."""
    found = broken_rules(lesson)
    for path, expected in copies(lesson, notebooks).items():
        name = path.relative_to(notebooks).as_posix()
        if not path.exists():
            found.append(f"{name}: missing; run python course.py build")
            continue
        saved = nbformat.read(path, as_version=4)
        differing = [f"{name}, {message}" for message in _compare(saved, expected)]
        found += differing[:MOST_SHOWN]
        if len(differing) > MOST_SHOWN:
            found.append(f"{name}: {len(differing) - MOST_SHOWN} more differences")
        found += [f"{name}, {message}" for message in _outputs(saved)]
    return found


def _compare(saved: NotebookNode, expected: NotebookNode) -> Iterator[str]:
    saved.metadata.get("rooflab", {}).pop(STAMP, None)  # where and when it ran is each run's own
    if dict(saved.metadata) != dict(expected.metadata):
        yield "notebook metadata: not the canonical one (or it holds widget state)"
    if len(saved.cells) != len(expected.cells):
        yield f"all cells: {len(saved.cells)} saved, {len(expected.cells)} in the source"
    for number, (old, new) in enumerate(zip(saved.cells, expected.cells, strict=False)):
        for part in ("cell_type", "source", "metadata", "id"):
            if old.get(part) != new.get(part):
                what = {"source": "text", "cell_type": "kind"}.get(part, part)
                yield f"cell {number}: {what} differs from the source; run python course.py build"
                break


def _outputs(saved: NotebookNode) -> Iterator[str]:
    home = str(Path.home())
    for number, cell in enumerate(saved.cells):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if cell.execution_count is None:
            yield f"cell {number}: was never run; run python course.py build"
        if "nbval-check-output" in cell.metadata.get("tags", []) and not cell.outputs:
            yield f"cell {number}: tagged nbval-check-output but shows nothing to check"
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"cell {number}: ends in {output.ename}: {output.evalue}"
            data = output.get("data", {})
            if WIDGET_VIEW in data:
                yield f"cell {number}: saves a widget view; a picture or text belongs there"
            text = "".join([output.get("text", ""), data.get("text/plain", "")])
            if ADDRESS.search(text):
                yield f"cell {number}: prints a memory address, which changes at every run"
            # "/" and "/root" alone would match innocent text.
            if len(home) > 5 and home in text or str(REPOSITORY) in text:
                yield f"cell {number}: prints a path of the machine it was built on"


def orphans(notebooks: Path, names: set[str]) -> list[str]:
    """Committed notebooks that no source makes."""
    return [
        f"{path.relative_to(notebooks).as_posix()}: no source/{path.stem}.py makes it; delete it"
        for folder in (notebooks, notebooks / "solutions")
        for path in sorted(folder.glob("*.ipynb"))
        if path.stem not in names
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Build the notebooks from notebooks/source.")
    parser.add_argument("lessons", nargs="*", help="names such as 00_free_lunch; default: all")
    parser.add_argument("--check", action="store_true", help="only compare; change nothing")
    parser.add_argument("--notebooks", type=Path, default=REPOSITORY / "notebooks")
    chosen = parser.parse_args(arguments)
    notebooks = chosen.notebooks.resolve()
    sources = {path.stem: path for path in sorted((notebooks / "source").glob("*.py"))}
    unknown = [name for name in chosen.lessons if name not in sources]
    if unknown:
        print(f"no source for {', '.join(unknown)}; there are: {', '.join(sources)}")
        return 1
    problems = [] if chosen.lessons else orphans(notebooks, set(sources))
    for name in chosen.lessons or sources:
        try:
            lesson = read_lesson(sources[name])
            if chosen.check:
                problems += differences(lesson, notebooks)
            else:
                build(lesson, notebooks)
        except (LessonError, RuntimeError) as error:
            problems.append(str(error))
    for problem in problems:
        print(problem)
    done = f"{len(chosen.lessons or sources)} lessons {'checked' if chosen.check else 'built'}"
    print(f"{done}, {len(problems)} problems" if problems else f"{done}, all well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

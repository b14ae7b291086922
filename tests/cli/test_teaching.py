"""The teacher's guide: its commands are ones that the terminal takes, its figures the course's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import typer

from rooflab.cli import app
from rooflab.cli.grading import _course
from rooflab.exercises import registry
from rooflab.grade.inside.limits import MIB, Limits
from tests.support.rows import each_row

REPOSITORY = Path(__file__).resolve().parents[2]
GUIDE = (REPOSITORY / "docs" / "teaching.md").read_text("utf-8")
BLOCKS = re.findall(r"^ *```(\w*)\n(.*?)^ *```", GUIDE, re.S | re.M)
TYPED = "\n".join(text for kind, text in BLOCKS if not kind).replace("\\\n", " ")
COMMANDS = re.findall(r"^ *(rooflab .*)$", TYPED, re.M) + re.findall(r"`(rooflab [^`]+)`", GUIDE)


def options(command: str) -> dict[str, object]:
    """What the terminal makes of a command, which is not run."""
    name, *words = shlex.split(command)[1:]
    group = typer.main.get_command(app)
    context = group.make_context("rooflab", [name, *words])
    found = group.get_command(context, name)
    filled = [word for word in words if word != "…"]
    return found.make_context(name, filled).params if filled else {}


@each_row(*sorted(set(COMMANDS)))
def test_the_terminal_takes_every_command_of_the_guide(command):
    told = options(re.sub(r"\bSEED\b", "7", command))
    if command.startswith("rooflab release"):
        words = [*(told["lessons"] or ()), *(told["points"] or ()), *(told["due"] or ())]
        course = _course([*words, *(told["more"] or ())], told["title"])
        assert course.lessons and course.due


def test_there_are_commands_in_it():
    assert {each.split()[1] for each in COMMANDS} >= {"release", "grade", "check"}


def test_points_and_numbers_of_exercises_are_the_course_s():
    rows = re.findall(r"^\| (\d\d) [^|]+\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", GUIDE, re.M)
    assert [row[0] for row in rows] == sorted({e.lesson for e in registry.exercises().values()})
    for number, core, all_of_it, count, points in rows:
        asked = registry.lesson(number)
        assert (len(asked), sum(e.points for e in asked)) == (int(count), int(points)), number
        assert int(core) < int(all_of_it)


def test_limits_are_those_of_the_grader():
    text = " ".join(GUIDE.split())
    of = Limits()
    assert f"submission ({of.wall:g} s)" in text and f"single cell has {of.cell:g} s" in text
    assert (
        f"{of.memory // MIB // 1024} GiB of memory, {of.processes} processes, {of.threads} threads"
        in text
    )
    assert f"{of.files // MIB} MiB of files, {of.cpu} s of processor" in text
    assert f"{of.shown // MIB} MiB of output a cell" in text


def test_links_within_the_guide_lead_to_a_heading():
    headings = re.findall(r"^#+ (.*)$", GUIDE, re.M)
    anchors = {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
    links = re.findall(r"\]\(#([^)]+)\)", GUIDE)
    assert links and set(links) <= anchors


ROUTES = re.findall(r"^\| (0[6-9]|1\d) \| (\*.*?\)) \| (.*?) \|$", GUIDE, re.M)


@each_row(*ROUTES)
def test_a_way_of_25_minutes_leads_through_headings_of_its_lesson(lesson, way, evening):
    (source,) = (REPOSITORY / "notebooks" / "source").glob(f"{lesson}_*.py")
    headings = set(re.findall(r"^# ## (.*)$", source.read_text("utf-8"), re.M))
    for stop in way.split("; "):  # *One*, or *One* and *another*; then what is shown there
        begins = re.match(r"\*([^*]+)\*(?: and \*([^*]+)\*)?(?::| \()", stop)
        assert begins, stop
        assert {name for name in begins.groups() if name} <= headings, stop
    assert sum(map(int, re.findall(r"\((\d+)\)", way))) == 25
    assert set(re.findall(r"\*([A-Z][^*]{4,})\*", evening)) <= headings | {"Deeper"}


def test_there_are_such_ways():
    assert [route[0] for route in ROUTES] == [f"{number:02}" for number in range(6, 17)]


def test_every_exercise_from_06_on_stands_beside_what_it_tests():
    heading = re.compile(r"^# ### Exercise (\d+) · (.+)$", re.M)
    asked = {
        (source.name[:2], int(number), title)
        for source in (REPOSITORY / "notebooks/source").glob("*.py") if source.name >= "06"
        for number, title in heading.findall(source.read_text("utf-8"))
    }  # fmt: skip
    rows = re.findall(r"^\| (\d\d) \| [a-z][^|]+ \| (\d+ \*[^|]*) \|$", GUIDE, re.M)
    named = {
        (lesson, int(number), title)
        for lesson, text in rows for number, title in re.findall(r"(\d+) \*(.+?)\*", text)
    }  # fmt: skip
    missing = {(lesson, number) for lesson, number, _ in asked - named}
    assert named <= asked and missing == {("13", 8), ("13", 9), ("13", 10)}  # "8 to 10"

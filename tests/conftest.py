"""What every test may rely on: a home of its own, and a browser if one is installed."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import pytest
from hypothesis import settings

import rooflab.grade  # noqa: F401, before nbformat, which then starts at once
from rooflab.measure.caches import TOLD, last_level_bytes

REPOSITORY = Path(__file__).resolve().parent.parent
# The shell is the same engine without the windows of a browser: it needs a sixth less of the CPU.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Chromium in a container: no sandbox of its own, no GPU, and no talking to anybody.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_configure(config: pytest.Config) -> None:
    """Before any test is imported: keep the tests out of the guesses of whoever runs them."""
    if "ROOFLAB_HOME" not in os.environ:
        os.environ["ROOFLAB_HOME"] = tempfile.mkdtemp(prefix="rooflab-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ["ROOFLAB_HOME"], ignore_errors=True))
    os.environ.setdefault("ROOFLAB_CACHE", str(REPOSITORY / ".cache" / "roofs"))
    # A server's cache may be that of 60 cores, and emptying it over and over takes an hour. No test
    # asks how long memory takes, so one that is soon emptied will do.
    os.environ.setdefault(TOLD, str(min(last_level_bytes(), 4 << 20)))
    # Bars are chosen for a terminal or a notebook once: here, before a test starts a kernel.
    with contextlib.suppress(ImportError):  # the tests of counting need no bars
        import tqdm.auto  # noqa: F401

    # Property tests have no deadline: a busy machine is slow, not wrong. Without --all they draw
    # the same examples every time, so that a red run tells of a change and of nothing else.
    settings.register_profile("rooflab", deadline=None, derandomize=not config.option.all)
    settings.load_profile("rooflab")
    if hasattr(config, "workerinput") and not sys.dont_write_bytecode:
        import_share(config)


def import_share(config: pytest.Config) -> None:
    """Import this worker's share of the test modules, so that each is compiled by one worker.

    Pytest rewrites every ``assert``, and keeps what came out beside the module for the others.
    """
    worker, files = config.workerinput, set[Path]()
    for path in (config.invocation_params.dir / arg.split("::")[0] for arg in config.args):
        files |= set(path.rglob("test_*.py")) if path.is_dir() else {path}
    own = sorted(files)[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]
    for name in (".".join(file.relative_to(REPOSITORY).with_suffix("").parts) for file in own):
        with contextlib.suppress(Exception, pytest.skip.Exception):  # its collection says why
            importlib.import_module(name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all``: slow surroundings too, and property tests on examples of their own."""
    parser.addoption("--all", action="store_true", help="slow tests too; draw examples freely")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each worker begins with its share of the longest. Slow ones: --all."""
    if not config.option.all:
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)
    items[:] = dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def dealt(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Deal the longest tests out, those of one lesson together; the others fill each share up.

    Worksteal cuts the list into equal parts. What one worker alone had to begin with, it would
    still have when the others are done.
    """
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    lessons: dict[object, list[pytest.Item]] = {}
    for item in (item for item in items if item.get_closest_marker("notebook")):
        params = item.callspec.params if hasattr(item, "callspec") else {}
        lessons.setdefault((item.path, params.get("lesson", item.nodeid)), []).append(item)
    for number, group in enumerate(lessons.values()):
        shares[number % workers] += group
    others = iter([item for item in items if not item.get_closest_marker("notebook")])
    for number, share in enumerate(shares):
        part = len(items) * (number + 1) // workers - len(items) * number // workers
        share += islice(others, max(0, part - len(share)))
    return [*chain(*shares), *others]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds README.md."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder that all processes of this test run know."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """A headless Chromium (a playwright Browser); skips where none is installed."""
    found = next((path for name in CHROMIUM if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()

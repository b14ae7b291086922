"""The course in one command; it needs nothing but Python 3.11 or newer.

    python course.py lab     install what is missing, open JupyterLab on lesson 00
    python course.py test    everything the continuous integration runs; --all: slow tests too
    python course.py build   notebooks from their sources, then the static pages in site/
    python course.py bench   the benchmarks of benchmarks/README.md
    python course.py gpu     all that needs an NVIDIA GPU, in this Python; installs nothing
    python course.py fmt     put the code in its standard form

Everything is installed into the folder .venv beside this file; delete it to start afresh.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
OLDEST = (3, 11)
COURSE, TESTS = "requirements.txt", "requirements-test.txt"
# The oldest NVIDIA driver and the oldest compute capability of each generation of CUDA, newest
# first. CUDA 13 no longer knows Maxwell, Pascal and Volta, which driver 580 still drives.
GPU = ((580, (7, 5), "requirements-gpu.txt"), (525, (5, 0), "requirements-gpu-cuda12.txt"))
LESSONS = sorted(path.name for path in (HERE / "notebooks").glob("[0-9]*.ipynb"))
LESSON = f"notebooks/{LESSONS[0] if LESSONS else ''}"  # a teacher's pack may begin with another
JUPYTERLAB = ("jupyterlab", "LabApp", "lab/tree")
NOTEBOOK_7 = ("notebook", "JupyterNotebookApp", "notebooks")
OURS = [
    "--ServerApp.kernel_websocket_connection_class=rooflab.jupyter_nodelay.NoDelay",
    "--ContentsManager.pre_save_hook=rooflab.jupyter_save.drop_unseen",
]
# What Lab and Notebook 7 do here unless the user's own settings say otherwise. Lab would ask about
# its news on the first start and look for updates on every one. A notebook is saved with the state
# of its pictures, which therefore still move when it is opened again.
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}


class Problem(Exception):
    """Something the person at the keyboard can put right; the message says how."""


def say(text: str) -> None:
    print("course.py:", text, flush=True)


def interpreter() -> Path:
    """The environment's Python, on any system."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def works() -> bool:
    """Whether the environment's Python starts and has pip."""
    ask = [str(interpreter()), "-m", "pip", "--version"]
    try:
        return subprocess.run(ask, capture_output=True).returncode == 0
    except OSError:
        return False


def make_venv() -> None:
    """Make the environment if none works; one that an interruption left half-made is made again."""
    if works():
        return
    half_made = VENV.exists()
    say(f"{VENV.name} is incomplete; making it again" if half_made else f"making {VENV.name}")
    try:
        import venv

        venv.EnvBuilder(with_pip=True, clear=half_made).create(str(VENV))
    except (subprocess.CalledProcessError, ImportError):
        raise Problem(
            "this Python cannot make an environment with pip. On Debian and Ubuntu:"
            f" sudo apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv"
            "\nElsewhere install Python from python.org or conda; then run this again."
        ) from None
    except (OSError, ValueError) as error:
        raise Problem(f"cannot make {VENV}: {error}") from None


def nvidia_smi(field: str) -> list[list[int]]:
    """What nvidia-smi tells about each GPU, a version as numbers; empty if it tells nothing."""
    ask = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    try:
        told = subprocess.run(ask, capture_output=True, text=True, timeout=30).stdout
        return [
            [int(part) for part in line.split(".")] for line in told.split("\n") if line.strip()
        ]
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []  # no such command, a command without a driver, a field that it does not know


def gpu_requirements() -> str | None:
    """The requirement file that fits this machine's NVIDIA driver and its oldest GPU, or None."""
    drivers = nvidia_smi("driver_version")
    if not drivers:
        return None
    driver, capability = drivers[0][0], tuple(min(nvidia_smi("compute_cap"), default=[99, 0]))
    for oldest, least, name in GPU:
        if driver >= oldest and capability >= least:
            return name
    return say(f"NVIDIA driver {driver} or its GPU is too old for CuPy; using the CPU")


def fingerprint(name: str) -> str:
    """Changes with the requirement file, the package's own list, the folder and Python."""
    files = [(HERE / file).read_text("utf-8") for file in (name, COURSE, "pyproject.toml")]
    return hashlib.sha256("\0".join([*files, str(HERE), sys.version]).encode()).hexdigest()


def install(name: str, size: str) -> None:
    """Install a requirement file unless nothing has changed since the last time."""
    stamp = VENV / f"installed-{name}"
    if stamp.exists() and stamp.read_text("utf-8") == fingerprint(name):
        return
    say(f"installing {name} ({size}; later starts skip this)")
    pip = [str(interpreter()), "-m", "pip", "install", "--disable-pip-version-check", "-r", name]
    if subprocess.run(pip, cwd=str(HERE)).returncode:
        raise Problem(
            f"pip could not install {name}; its last lines above say why."
            "\nWithout a network? Connect, then run this again: it goes on where it stopped."
            " Behind a proxy? Set HTTPS_PROXY."
        )
    stamp.write_text(fingerprint(name), "utf-8")


def prepare(options: argparse.Namespace, *more: str) -> None:
    """Make the environment and install the course, the files named, and what a GPU needs."""
    make_venv()
    install(COURSE, "about 500 MB on disk, 1 to 3 minutes")
    for name in more:
        install(name, "about 200 MB on disk")
    wanted = None if options.cpu else gpu_requirements()
    if wanted:
        try:
            install(wanted, "1.3 to 1.8 GB to download")
        except Problem as problem:  # a learner with a GPU can still work on the CPU
            say(f"{problem}\nGoing on with the CPU alone.")


def run(*command: str) -> int:
    """Run the environment's Python in the course's folder; return its exit status."""
    # PYTHONPATH or PYTHONHOME of another installation would mix its packages into the course's.
    # PYTHONDONTWRITEBYTECODE, usual in containers, would make every kernel compile the course anew:
    # one and a half seconds each.
    not_here = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    clean = {k: v for k, v in os.environ.items() if k not in not_here}
    path = str(interpreter().parent) + os.pathsep + clean.get("PATH", "")
    clean.update(PATH=path, PYTHONUTF8="1", JUPYTER_PREFER_ENV_PATH="1")
    with subprocess.Popen([str(interpreter()), *command], cwd=str(HERE), env=clean) as process:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Jupyter hears Ctrl-C itself, and asks first
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()


def lab(options: argparse.Namespace, rest: list[str]) -> int:
    prepare(options, *([TESTS] if options.notebook else []))  # Notebook 7 comes with the tests
    settings = VENV / "share/jupyter/lab/settings/overrides.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(SETTINGS), "utf-8")
    app, name, page = NOTEBOOK_7 if options.notebook else JUPYTERLAB
    first = f"--{name}.default_url=/{page}/{LESSON}"
    flags = [f"--ServerApp.root_dir={HERE}", *OURS, first, *rest]
    flags += [f"--port={options.port}"] if options.port else []
    flags += ["--no-browser"] if options.no_browser else []
    flags += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return run("-m", app, *flags)


def test(options: argparse.Namespace, rest: list[str]) -> int:
    prepare(options, TESTS)
    workers = min((os.cpu_count() or 1) + 1, 4)  # one more than cores: many wait for a browser
    return run("-m", "pytest", f"-n{workers}", "--dist=worksteal", *rest)


def build(options: argparse.Namespace, rest: list[str]) -> int:
    prepare(options, TESTS)
    status = run("tools/build_notebooks.py", *rest)
    return status if status or "--check" in rest else run("tools/site.py", *rest)


def bench(options: argparse.Namespace, rest: list[str]) -> int:
    prepare(options, TESTS)
    return run("-m", "benchmarks", *rest)


def gpu(options: argparse.Namespace, rest: list[str]) -> int:
    paths = [str(HERE / "lib"), str(HERE), os.environ.get("PYTHONPATH", "")]
    clean = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    return subprocess.run([sys.executable, "-m", "tools.gpu_run", *rest], env=clean).returncode


def fmt(options: argparse.Namespace, rest: list[str]) -> int:
    prepare(options, TESTS)
    formatted = run("-m", "ruff", "check", "--fix", ".") | run("-m", "ruff", "format", ".")
    return formatted | run("tools/budget.py", "--lower")


def main(arguments: list[str] | None = None) -> int:
    if sys.version_info < OLDEST:
        has = "{}.{}".format(*sys.version_info)
        say(f"this is Python {has}; the course needs 3.11 or newer (python.org, conda, uv)")
        return 1
    parser = argparse.ArgumentParser("course.py", formatter_class=argparse.RawTextHelpFormatter)
    parser.description = __doc__
    parser.add_argument("command", choices=["lab", "test", "build", "bench", "gpu", "fmt"])
    parser.add_argument("--cpu", action="store_true", help="leave the GPU packages out")
    parser.add_argument("--no-browser", action="store_true", help="lab: only print the address")
    parser.add_argument("--port", type=int, help="lab: the port to listen on")
    parser.add_argument("--notebook", action="store_true", help="lab: Notebook 7 instead")
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["gpu"]:  # its options are its own, --help too
        return gpu(argparse.Namespace(), given[1:])
    options, rest = parser.parse_known_args(given)
    try:
        return globals()[options.command](options, rest)
    except Problem as problem:
        say(str(problem))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())

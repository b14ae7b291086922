"""Packages that only a part of rooflab needs: a missing one is told in a sentence.

``pip install rooflab`` brings what counting and predicting need. Everything else comes with an
extra; pyproject.toml lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Package as it is imported → the smallest extra that brings it.
EXTRA = {
    **dict.fromkeys(("rich", "typer"), "terminal"),
    "matplotlib": "plot",
    **dict.fromkeys(
        ("llvmlite", "ml_dtypes", "numba", "psutil", "scipy", "threadpoolctl", "tqdm"), "measure"
    ),
    **dict.fromkeys(
        (
            "IPython",
            "anywidget",
            "ipykernel",
            "ipywidgets",
            "jupyter_server",
            "markdown_it",
            "traitlets",
        ),
        "course",
    ),
    **dict.fromkeys(
        ("jupyter_client", "nbclient", "nbformat", "nbval", "pytest", "zmq"),
        "grade",
    ),
    "distributed": "cluster",
}
_ENDING = "is not installed here"


@contextmanager
def installed(what: str) -> Iterator[None]:
    """Say what to install if ``what`` needs a package that is not there.

    A context, or a decorator of the function ``what``. Raises ModuleNotFoundError with one
    sentence in place of the import's own.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA:
            raise
        told = str(error) if _ENDING in str(error) else _sentence(what, package)
        raise ModuleNotFoundError(told, name=error.name) from None


def _sentence(what: str, package: str) -> str:
    return f'{what} needs {package}, which {_ENDING}: pip install "rooflab[{EXTRA[package]}]"'

"""Packages that only a part of rooflab needs: a missing one is told in a sentence.

``pip install rooflab`` brings what counting and predicting need. Everything else comes with an
extra; pyproject.toml lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_BROUGHT_BY = {  # extra → the packages that it brings, as they are imported
    "terminal": "rich typer",
    "plot": "matplotlib",
    "measure": "llvmlite ml_dtypes numba psutil pycparser scipy threadpoolctl tqdm",
    "course": "IPython anywidget ipykernel ipywidgets jupyter_server markdown_it traitlets",
    "grade": "filelock jinja2 jupyter_client nbclient nbformat nbval pytest zmq",
    "cluster": "distributed",
}
EXTRA = {package: extra for extra, names in _BROUGHT_BY.items() for package in names.split()}
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

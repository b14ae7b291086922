"""Tell how far a measurement is: on a progress bar, to the caller, or to nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

Progress = bool | Callable[[float], None]
"""True draws a progress bar, False nothing; a function is called with the share done, 0 to 1."""
WIDTH = 46  # of the text before the bar; a bar behind texts of any length would jump


class Tell(Protocol):
    """Tell the share done, 0 to 1, and perhaps the name of the step that begins now."""

    def __call__(self, share: float, step: str = "") -> None: ...


@contextmanager
def progress_bar(progress: Progress, what: str) -> Iterator[Tell]:
    """A function that is told the share done and the step: it moves a bar, calls ``progress``, or
    does nothing."""
    if callable(progress):
        yield lambda share, step="": progress(share)
        return
    if not progress:
        yield lambda share, step="": None
        return
    from tqdm.auto import tqdm

    with tqdm(total=100, desc=what, leave=False, bar_format="{desc} {bar} {n:.0f} %") as bar:

        def tell(share: float, step: str = "") -> None:
            if step:
                bar.set_description_str(f"{f'{what}: {step}':<{WIDTH}.{WIDTH}}", refresh=False)
            bar.update(max(0.0, round(100 * share, 1) - bar.n))

        yield tell
        bar.update(100 - bar.n)  # one that is closed below its total turns red, and stays

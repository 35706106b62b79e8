# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr for what takes longer than a second."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

_DELAY_SECONDS = 1.0


@contextmanager
def stage(description: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Shows a bar after a second; yields the function that advances it.

    Without a total the bar only shows that work goes on. Nothing is shown where stderr is not a
    terminal.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(description, total=total)
    if not console.is_terminal:
        yield lambda steps: None
        return
    timer = Timer(_DELAY_SECONDS, bar.start)
    timer.start()
    try:
        yield lambda steps: bar.advance(task, steps)
    finally:
        timer.cancel()
        timer.join()  # a bar that is being started must be stopped
        if bar.live.is_started:
            bar.stop()

# SPDX-License-Identifier: Apache-2.0
"""Runs in processes of this machine."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Iterable, Iterator
from functools import partial

from ._outputs import Outputs, Row, rows
from ._worker import work


def _task(outputs: Outputs, arguments: tuple[str, ...], chunk: list[Row]) -> list[Row]:
    return list(work(chunk, outputs, arguments))


def chunks(sources: Iterable[Row], count: int) -> Iterator[list[Row]]:
    """Divides rows into lists of `count`, in their order."""
    remaining = iter(sources)
    while chunk := list(itertools.islice(remaining, count)):
        yield chunk


def run(
    sources: Iterable[str | Row], outputs: Outputs, *, processes: int | None = None, chunk_size: int = 16,
    arguments: tuple[str, ...] = (),
) -> Iterator[Row]:
    """Makes the outputs of all sources; yields their records. Large sources should come first."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        task = partial(_task, outputs, arguments)
        for records in pool.imap_unordered(task, chunks(rows(sources), chunk_size)):
            yield from records

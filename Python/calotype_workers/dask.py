# SPDX-License-Identifier: Apache-2.0
"""Runs in the tasks of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ._outputs import Outputs, Row, rows
from ._worker import work
from .pool import chunks

if TYPE_CHECKING:
    import distributed


def _task(chunk: list[Row], outputs: Outputs, arguments: tuple[str, ...]) -> list[Row]:
    return list(work(chunk, outputs, arguments))


def run(
    client: distributed.Client, sources: Iterable[str | Row], outputs: Outputs, *, chunk_size: int = 64,
    arguments: tuple[str, ...] = (),
) -> Iterator[Row]:
    """Makes the outputs of all sources; yields their records."""
    import distributed

    futures = client.map(
        _task, list(chunks(rows(sources), chunk_size)), outputs=outputs, arguments=arguments, pure=False)
    for future in distributed.as_completed(futures):
        yield from future.result()

# SPDX-License-Identifier: Apache-2.0
"""Runs in the tasks of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ._outputs import Outputs, rows
from ._report import table
from ._worker import work

if TYPE_CHECKING:
    import pyarrow

SCHEMA = """source string, version string, request string, status string, kind string, message string, retry boolean,
    format string, width long, height long, outputs array<struct<name: string, path: string, skipped: boolean,
    width: long, height: long, byteCount: long, sha256: string>>, milliseconds long, attempt long, worker string"""


def run(
    outputs: Outputs, arguments: tuple[str, ...] = (),
) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Returns a function for `mapInArrow`, of a data frame with a column `source`.

        frame.mapInArrow(calotype_workers.spark.run(outputs), calotype_workers.spark.SCHEMA)
    """
    def records(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            yield from table(work(rows(batch.to_pylist()), outputs, arguments)).to_batches()

    return records

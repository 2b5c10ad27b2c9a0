# SPDX-License-Identifier: Apache-2.0
"""Runs in the actors of Ray Data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._outputs import Outputs, rows
from ._report import table
from ._worker import work

if TYPE_CHECKING:
    import pyarrow


class Run:
    """A class for `map_batches`, with `batch_format="pyarrow"` and a column `source`.

        dataset.map_batches(calotype_workers.ray.Run, fn_constructor_args=[outputs], batch_format="pyarrow",
                            batch_size=64, concurrency=8)
    """

    def __init__(self, outputs: Outputs, arguments: tuple[str, ...] = ()) -> None:
        self.outputs = outputs
        self.arguments = arguments

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        """Returns the records of a batch of rows."""
        return table(work(rows(batch.to_pylist()), self.outputs, self.arguments))

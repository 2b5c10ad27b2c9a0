# SPDX-License-Identifier: Apache-2.0
"""Makes images in worker processes of the program `calotype`, here or in tasks of Spark, Ray or Dask.

    outputs = Outputs("out/{shard}/{digest}-{name}.{extension}", small="400", large="1280,webp")
    for record in calotype_workers.pool.run(paths, outputs, processes=2):
        ...

Each row of a manifest gives one record, whatever becomes of its source. Only addresses and records are passed between
processes. The package needs the program `calotype`, and neither the package `calotype` nor its library.
"""

from ._outputs import Outputs, rows
from ._report import append, pending, read, schema, summary, table, write
from ._worker import Worker, WorkerError, work

__all__ = [
    "Outputs", "Worker", "WorkerError", "append", "pending", "read", "rows", "schema", "summary", "table", "work",
    "write"]

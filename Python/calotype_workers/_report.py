# SPDX-License-Identifier: Apache-2.0
"""Reports: one record for each row of a manifest, as JSON lines or, with pyarrow, as Parquet."""

from __future__ import annotations

import heapq
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ._outputs import Outputs, Row

if TYPE_CHECKING:
    import pyarrow


def schema() -> pyarrow.Schema:
    """Returns the schema of a report."""
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int64()
    output = pyarrow.struct({
        "name": text, "path": text, "skipped": pyarrow.bool_(), "width": number, "height": number,
        "byteCount": number, "sha256": text})
    return pyarrow.schema({
        "source": text, "version": text, "request": text, "status": text, "kind": text, "message": text,
        "retry": pyarrow.bool_(), "format": text, "width": number, "height": number,
        "outputs": pyarrow.list_(output), "milliseconds": number, "attempt": number, "worker": text})


def table(records: Iterable[Row]) -> pyarrow.Table:
    """Returns records as a table."""
    import pyarrow

    return pyarrow.Table.from_pylist(list(records), schema=schema())


def write(records: Iterable[Row], path: str) -> None:
    """Writes a report: Parquet if the path ends with .parquet, otherwise JSON lines.

    The file appears under its name when it is complete.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    if path.endswith(".parquet"):
        import pyarrow.parquet

        pyarrow.parquet.write_table(table(records), temporary, compression="zstd")
    else:
        with open(temporary, "w", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
    os.replace(temporary, path)


def append(records: Iterable[Row], path: str) -> Iterator[Row]:
    """Appends each record to a report of JSON lines before it is yielded, so that a run can be resumed.

    A last line without an end, which a killed run leaves, is removed.
    """
    with open(path, "ab+") as file:
        file.seek(0)
        complete = sum(len(line) for line in file if line.endswith(b"\n"))
        file.truncate(complete)
    with open(path, "a", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
            file.flush()
            yield record


def read(path: str, members: Iterable[str] = ()) -> Iterator[Row]:
    """Reads the records of a report; with `members`, only these of them.

    A last line without an end, which a killed run leaves, is ignored.
    """
    members = list(members)
    if path.endswith(".parquet"):
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=members or None):
                yield from batch.to_pylist()
        return
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                record = json.loads(line)
                yield {member: record[member] for member in members} if members else record


def pending(rows: Iterable[Row], reports: Iterable[str], outputs: Outputs) -> Iterator[Row]:
    """Yields the rows that no report contains with the same version and outputs.

    Rows that failed are done as well, unless their error may be temporary. Keeps a hash for each row of the reports.
    """
    keys = ("source", "version")
    done = {
        hash((record["source"], record["version"]))
        for path in reports
        for record in read(path, (*keys, "request", "retry"))
        if record["request"] == outputs.digest and not record["retry"]}
    return (row for row in rows if hash((row["source"], row.get("version"))) not in done)


def summary(records: Iterable[Row]) -> dict[str, Any]:
    """Counts records by status and by kind of error, and sums up their files and times."""
    statuses: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    totals: Counter[str] = Counter(files=0, bytes=0, milliseconds=0, repeated=0)
    slowest: list[tuple[int, str]] = []
    for record in records:
        statuses[record["status"]] += 1
        if record["kind"]:
            kinds[record["kind"]] += 1
        made = [output for output in record["outputs"] if not output["skipped"]]
        totals["files"] += len(made)
        totals["bytes"] += sum(output["byteCount"] for output in made)
        totals["milliseconds"] += record["milliseconds"] or 0
        totals["repeated"] += record["attempt"] > 1
        entry = (record["milliseconds"] or 0, record["source"])
        (heapq.heappush if len(slowest) < 20 else heapq.heappushpop)(slowest, entry)
    return {
        "sources": sum(statuses.values()), "statuses": dict(statuses), "kinds": dict(kinds), **totals,
        "slowest": [{"source": source, "milliseconds": time} for time, source in sorted(slowest, reverse=True)]}

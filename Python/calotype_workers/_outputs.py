# SPDX-License-Identifier: Apache-2.0
"""The outputs of a run, and the rows of its manifest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, Union

Row = dict[str, Any]


class Outputs:
    """The images to make of each source, with the pattern of their paths.

    The options are those of `calotype batch`, such as "400,webp,q75". In the path, `{name}`, `{extension}`, `{digest}`
    (of the source, all options and the version of the program) and `{shard}` (the first two digits of it) are replaced.
    """

    def __init__(self, path: str, /, **options: str) -> None:
        if not options:
            raise ValueError("no outputs; use Outputs(path, small='400')")
        if "{digest}" not in path or (len(options) > 1 and "{name}" not in path):
            raise ValueError(f"the path must contain {{digest}}, and {{name}} for several outputs: {path}")
        self.path = os.path.abspath(path)
        self.options = options
        text = json.dumps([self.path, options])
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:32]

    def request(self, identifier: str, row: Row) -> Row:
        """Returns the request of a worker for a row."""
        outputs = [{"name": name, "options": text, "path": self.path} for name, text in self.options.items()]
        request = {"id": identifier, "source": row["source"], "outputs": outputs}
        data = row.get("bytes")
        if data is not None:
            request["byteCount"] = len(data)
        # For a file, the worker itself examines which version it reads.
        if row.get("version") is not None and (data is not None or _is_url(row["source"])):
            request["version"] = row["version"]
        return request


def _is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def rows(sources: Iterable[Union[str, "os.PathLike[str]", Row]]) -> Iterator[Row]:
    """Returns the rows of a manifest: `source`, `version` (such as an ETag) and `byteCount`, `None` if unknown.

    The version of a file is its size and its modification time. Rows that are complete are not changed.
    """
    for source in sources:
        row = dict(source) if isinstance(source, dict) else {"source": os.fspath(source)}
        path = row["source"]
        if row.get("version") is None and not _is_url(path):
            try:
                status = os.stat(path)
            except (OSError, ValueError):
                pass  # The worker reports why.
            else:
                row["version"] = f"{status.st_size}-{status.st_mtime_ns}"
                row.setdefault("byteCount", status.st_size)
        yield {"source": path, "version": row.get("version"), "byteCount": row.get("byteCount")}

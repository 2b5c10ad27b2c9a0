# SPDX-License-Identifier: Apache-2.0
"""What a run was asked for, and the verdicts that it comes to."""

import json
import os
import pathlib
import sys

from calotype_server import CORPUS



class Report:
    """One line for each verdict; the run fails if one of them does."""

    def __init__(self, as_json):
        self.as_json, self.verdicts = as_json, []

    def verdict(self, part, what, passed, said="", **figures):
        self.verdicts.append(dict(part=part, what=what, passed=bool(passed), said=str(said), **figures))
        word = "ok  " if passed else "FAIL"
        print(f"{word} {part}: {what}{f': {said}' if said else ''}", file=self.stream(), flush=True)

    def note(self, part, said):
        """A figure on which nothing depends."""
        self.verdicts.append(dict(part=part, what="note", passed=True, said=str(said)))
        print(f"     {part}: {said}", file=self.stream(), flush=True)

    def stream(self):
        return sys.stderr if self.as_json else sys.stdout

    def failures(self):
        return [verdict for verdict in self.verdicts if not verdict["passed"]]

    def finish(self):
        if self.as_json:
            print(json.dumps({"passed": not self.failures(), "verdicts": self.verdicts}, indent=1))
        return 1 if self.failures() else 0


class Context:
    """The program, where to work, and how much of it."""

    def __init__(self, arguments, report, place):
        self.program = os.path.abspath(arguments.program)
        self.seed, self.brief = arguments.seed, arguments.brief
        self.same_address, self.keep = arguments.same_address, arguments.keep
        self.wanted_count, self.wanted_seconds = arguments.count, arguments.seconds
        self.photograph_folder = arguments.photographs
        self.report, self.place = report, pathlib.Path(place)

    def stranger(self, number=0):
        """The loopback address that hostile clients come from, so that a server may tell them apart from
        good ones by their addresses; nothing if all come from the same."""
        return None if self.same_address else f"127.0.1.{1 + number % 8}"

    def count(self, usual, brief):
        return self.wanted_count or (brief if self.brief else usual)

    def seconds(self, usual, brief):
        return self.wanted_seconds or (brief if self.brief else usual)

    def photographs(self):
        """Photographs from the smallest file on; images of the corpus where there are none."""
        folder = pathlib.Path(self.photograph_folder)
        found = sorted(folder.glob("*.jpg"), key=lambda file: (file.stat().st_size, file.name))
        return found or sorted(CORPUS.glob("jpeg/valid/*.jpg"))

    def more_files(self):
        """The folder that CALOTYPE_CORPUS names, or nothing."""
        name = os.environ.get("CALOTYPE_CORPUS")
        return pathlib.Path(name) if name else None

    def keep_file(self, name, data):
        """Keeps an input that found something, if a folder for them was named."""
        if self.keep:
            folder = pathlib.Path(self.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


def percentile(values, share):
    """The value that `share` of all values do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def milliseconds(seconds):
    return f"{seconds * 1000:.0f} ms"


def mebibytes(count):
    return f"{count / (1 << 20):.0f} MiB"

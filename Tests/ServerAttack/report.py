# SPDX-License-Identifier: Apache-2.0
"""The options of a run, and its verdicts."""

import json
import os
import pathlib
import sys

from calotype_server import CORPUS



class Report:
    """Prints one line per verdict; the run fails if one of them does."""

    def __init__(self, as_json):
        self.as_json, self.verdicts = as_json, []

    def verdict(self, part, what, passed, said="", **figures):
        self.verdicts.append(dict(part=part, what=what, passed=bool(passed), said=str(said), **figures))
        word = "ok  " if passed else "FAIL"
        print(f"{word} {part}: {what}{f': {said}' if said else ''}", file=self.stream(), flush=True)

    def note(self, part, said):
        """Reports a figure without a verdict."""
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
    """The program, the working folder and the amount of work."""

    def __init__(self, arguments, report, place):
        self.program = os.path.abspath(arguments.program)
        self.seed, self.brief = arguments.seed, arguments.brief
        self.same_address, self.keep = arguments.same_address, arguments.keep
        self.wanted_count, self.wanted_seconds = arguments.count, arguments.seconds
        self.photograph_folder = arguments.photographs
        self.report, self.place = report, pathlib.Path(place)

    def stranger(self, number=0):
        """Returns the loopback address of hostile clients, by which a server may distinguish them from valid
        ones; None if all use the same address."""
        return None if self.same_address else f"127.0.1.{1 + number % 8}"

    def count(self, usual, brief):
        return self.wanted_count or (brief if self.brief else usual)

    def seconds(self, usual, brief):
        return self.wanted_seconds or (brief if self.brief else usual)

    def photographs(self):
        """Returns the photographs, smallest file first; images of the corpus if there are no photographs."""
        folder = pathlib.Path(self.photograph_folder)
        found = sorted(folder.glob("*.jpg"), key=lambda file: (file.stat().st_size, file.name))
        return found or sorted(CORPUS.glob("jpeg/valid/*.jpg"))

    def more_files(self):
        """Returns the folder of CALOTYPE_CORPUS, or None."""
        name = os.environ.get("CALOTYPE_CORPUS")
        return pathlib.Path(name) if name else None

    def keep_file(self, name, data):
        """Keeps an input that exposed a failure, if --keep specifies a folder."""
        if self.keep:
            folder = pathlib.Path(self.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


def percentile(values, share):
    """Returns the value that `share` of all values do not exceed; 0 for an empty list."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def milliseconds(seconds):
    return f"{seconds * 1000:.0f} ms"


def mebibytes(count):
    return f"{count / (1 << 20):.0f} MiB"

# SPDX-License-Identifier: Apache-2.0
"""Attacks a running server, one part after the other, and says what it withstood.

usage: attack.py PROGRAM [PART…] [--count N] [--seconds N] [--seed N] [--brief] [--json]

PROGRAM is a release build of `calotype` with its two programs beside it. Everything stays on this
machine, and every part is bounded in count or time. Without a PART all of them run.
"""

import argparse
import importlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "CalotypeServer"))

from report import Context, Report

PARTS = {
    "mutants": "damaged files of all formats in the folder; --count files",
    "hostile": "times of good requests while one in ten is hostile; --seconds",
    "metadata": "slow metadata in sizes that double",
    "readers": "clients that do not read, and a server without descriptors; --count clients",
    "races": "files that are rewritten in place while they are read; --seconds",
    "kills": "workers and hosts that are killed while they work; --count kills",
    "determinism": "the same addresses in other orders; --count rounds",
    "names": "file names that look the same",
    "store": "damage to the store between restarts; --count damages",
    "host": "the Host header, and reading across origins",
}


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="parts:\n" + "\n".join(f"  {name:12} {what}" for name, what in PARTS.items()))
    parser.add_argument("program")
    parser.add_argument("parts", nargs="*", metavar="part", help="the parts to run (default: all)")
    parser.add_argument("--count", type=int, help="how many files, kills, rounds … of each part")
    parser.add_argument("--seconds", type=float, help="how long the parts run that are measured by time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brief", action="store_true", help="a small selection, under a minute in all")
    parser.add_argument("--json", action="store_true", help="write JSON to standard output, lines to stderr")
    parser.add_argument("--keep", metavar="FOLDER", help="where inputs go that found something")
    parser.add_argument("--same-address", action="store_true",
                        help="let hostile clients come from the address of good ones")
    parser.add_argument("--photographs", metavar="FOLDER", default="/usr/share/backgrounds/mate/nature")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"unknown part: {part}; parts are {', '.join(PARTS)}")
    if not os.access(arguments.program, os.X_OK):
        parser.error(f"not a program: {arguments.program}")
    return arguments


def memory_folder():
    """A file system in memory if there is room, as a slow disk would be part of every time."""
    folder = "/dev/shm"
    if "TMPDIR" not in os.environ and os.access(folder, os.W_OK):
        if shutil.disk_usage(folder).free > 4 << 30:
            return folder
    return None


def main():
    # So that no server and no folder is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parsed()
    report = Report(arguments.json)
    for part in arguments.parts or PARTS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="calotype-attack-", dir=memory_folder()) as place:
            try:
                importlib.import_module(part).run(Context(arguments, report, place))
            except Exception as error:
                # A part that cannot go on has failed, and says where; the others still run.
                trace = error.__traceback__
                while trace.tb_next:
                    trace = trace.tb_next
                at = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
                report.verdict(part, "runs to its end", False, f"{type(error).__name__} at {at}: {error}")
        report.note(part, f"{time.monotonic() - start:.0f} s, load {os.getloadavg()[0]:.1f}")
    sys.exit(report.finish())


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Attacks a running server, one part after the other, and reports a verdict for each check.

usage: attack.py PROGRAM [PART…] [--count N] [--seconds N] [--seed N] [--brief] [--json]

PROGRAM is a release build of `calotype` with its two programs beside it. All traffic stays on this
machine, and every part is bounded in count or time. Without a PART, all parts run.
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
    "hostile": "times of valid requests while one in ten is hostile; --seconds",
    "metadata": "slow metadata of doubling sizes",
    "readers": "clients that do not read, and exhausted file descriptors; --count clients",
    "races": "files rewritten in place while they are read; --seconds",
    "kills": "workers and hosts killed during work; --count kills",
    "determinism": "the same URLs in other orders; --count rounds",
    "names": "file names that look alike",
    "store": "damage to the store between restarts; --count damages",
    "host": "the Host header, and cross-origin reads",
}


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="parts:\n" + "\n".join(f"  {name:12} {what}" for name, what in PARTS.items()))
    parser.add_argument("program")
    parser.add_argument("parts", nargs="*", metavar="part", help="the parts to run (default: all)")
    parser.add_argument("--count", type=int, help="the number of files, kills, rounds … of each part")
    parser.add_argument("--seconds", type=float, help="the duration of parts that are bounded by time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brief", action="store_true", help="a small selection, less than a minute in total")
    parser.add_argument("--json", action="store_true", help="write JSON to standard output, lines to stderr")
    parser.add_argument("--keep", metavar="FOLDER", help="folder for inputs that exposed a failure")
    parser.add_argument("--same-address", action="store_true",
                        help="hostile clients use the IP address of valid clients")
    parser.add_argument("--photographs", metavar="FOLDER", default="/usr/share/backgrounds/mate/nature")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"unknown part: {part}; parts are {', '.join(PARTS)}")
    if not os.access(arguments.program, os.X_OK):
        parser.error(f"not a program: {arguments.program}")
    return arguments


def memory_folder():
    """Returns a file system in memory if it has room, because a slow disk would distort all times."""
    folder = "/dev/shm"
    if "TMPDIR" not in os.environ and os.access(folder, os.W_OK):
        if shutil.disk_usage(folder).free > 4 << 30:
            return folder
    return None


def main():
    # Runs the clean-up of servers and folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parsed()
    report = Report(arguments.json)
    for part in arguments.parts or PARTS:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="calotype-attack-", dir=memory_folder()) as place:
            try:
                importlib.import_module(part).run(Context(arguments, report, place))
            except Exception as error:
                # An exception is a failed verdict with its position; the other parts still run.
                trace = error.__traceback__
                while trace.tb_next:
                    trace = trace.tb_next
                at = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
                report.verdict(part, "completes", False, f"{type(error).__name__} at {at}: {error}")
        report.note(part, f"{time.monotonic() - start:.0f} s, load {os.getloadavg()[0]:.1f}")
    sys.exit(report.finish())


if __name__ == "__main__":
    main()

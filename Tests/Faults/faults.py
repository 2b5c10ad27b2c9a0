#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation test: inserts the one-line faults of faults.tsv into a copy of the package, builds it once, and
for each fault runs the test targets of its module and then all others until a test fails.

The environment variable CALOTYPE_FAULT selects the active fault. Workers of the sandbox, whose environment is
empty, have none. The exit status is 1 if fewer than --least faults are caught, and 2 if the tests fail without
a fault, or if a fault cannot be inserted.
"""

import argparse
import dataclasses
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("faults.tsv")
TEST_PROGRAM = ".build/debug/calotypePackageTests.xctest"
# The groups of tests that run together, and how many tests at a time, are those of `make test`.
*GROUPS, WIDTH = subprocess.run(
    ["bash", "-c", "source scripts/common.sh; printf '%s\n' \"$decoding_suites\" \"$loading_suites\" "
     "\"$SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH\""],
    cwd=PACKAGE, check=True, capture_output=True, text=True).stdout.split()
# In seconds. All tests take a third of this; a fault that makes a test hang counts as detected.
TIME_LIMIT = 600


# A file of each module with faults.
SWITCH = """internal import Glibc

let activeFault = unsafe getenv("CALOTYPE_FAULT").map { unsafe atoi($0) } ?? 0
"""


@dataclasses.dataclass
class Fault:
    number: int
    path: str
    old: str
    new: str

    @property
    def module(self) -> str:
        return self.path.split("/")[1]

    def insert(self, package: pathlib.Path) -> None:
        file = package / self.path
        text = file.read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.path}: {self.old!r} occurs {text.count(self.old)} times, not once")
        file.write_text(text.replace(self.old, self.new.replace("FAULT", f"(activeFault == {self.number})")))


def read_faults(words: list[str]) -> list[Fault]:
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    faults = [Fault(number, *line.replace(r"\n", "\n").split("\t")) for number, line in enumerate(lines, 1)]
    return [fault for fault in faults if not words or any(word in fault.path for word in words)]


def insert(faults: list[Fault], package: pathlib.Path) -> None:
    for fault in faults:
        fault.insert(package)
    for module in {fault.module for fault in faults}:
        (package / "Sources" / module / "ActiveFault.swift").write_text(SWITCH)


def copy_package(folder: pathlib.Path) -> None:
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PACKAGE, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, files):
        source, target = PACKAGE / name, folder / name
        if target.is_symlink() or not source.exists():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)


def build(folder: pathlib.Path) -> str | None:
    """Returns the errors, if there are any."""
    result = subprocess.run(
        ["bash", "-c", "source scripts/common.sh && build_tests"],
        cwd=folder, capture_output=True, text=True)
    if result.returncode == 0:
        return None
    errors = [line for line in result.stdout.splitlines() + result.stderr.splitlines() if "error:" in line]
    return "\n".join(errors[:3]) or f"swift build ended with {result.returncode}"


def first_failure(folder: pathlib.Path, python: str, options: list[str], number: int = 0) -> str | None:
    """Runs tests with a fault, or with none, until one fails, and returns its message.

    The tests write to a pseudo-terminal, which makes their output line-buffered.
    """
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        # Tests send these signals, which nohup and jobs in the background ignore.
        for name in (signal.SIGINT, signal.SIGHUP):
            signal.signal(name, signal.SIG_DFL)
        # Tests of traps crash on purpose; the backtracer would wait for commands on a terminal.
        environment = os.environ | {
            "SWIFT_BACKTRACE": "enable=no", "CALOTYPE_PYTHON": python, "CALOTYPE_FAULT": str(number),
            "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": WIDTH}
        os.execve(TEST_PROGRAM, [TEST_PROGRAM, "--testing-library", "swift-testing", *options], environment)
    end = time.monotonic() + TIME_LIMIT
    failure = None
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process, signal.SIGKILL))
    signal.alarm(TIME_LIMIT)
    with open(terminal, errors="replace") as output:
        try:
            for line in output:
                if "recorded an issue" in line or "Fatal error" in line:
                    failure = line.strip()
                    break
        except OSError:
            pass  # The process has ended and closed the other end.
    signal.alarm(0)
    if failure:
        os.killpg(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    if failure:
        return failure
    if time.monotonic() >= end:
        return f"still running after {TIME_LIMIT} s"
    return None if status == 0 else f"ended with status {status:#x}"


def failure_in_groups(folder: pathlib.Path, python: str, skipped: str | None, number: int = 0) -> str | None:
    """Runs the tests of all groups without those that match `skipped`."""
    skip = ["--skip", skipped] if skipped else []
    groups = [["--filter", suites, *skip] for suites in GROUPS] + [["--skip", "|".join(GROUPS), *skip]]
    return next(filter(None, (first_failure(folder, python, group, number) for group in groups)), None)


def failure_of(fault: Fault, folder: pathlib.Path, python: str) -> str | None:
    own = f"^{fault.module}Tests\\."
    tests = folder / "Tests" / f"{fault.module}Tests"
    failure = first_failure(folder, python, ["--filter", own], fault.number) if tests.is_dir() else None
    return failure or failure_in_groups(folder, python, own, fault.number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="only faults whose path has one of these words")
    parser.add_argument("--folder", type=pathlib.Path, help="keep the copy and its build here")
    parser.add_argument("--least", type=int, default=36, help="how many faults must be caught")
    arguments = parser.parse_args()

    faults = read_faults(arguments.words)
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp(prefix="calotype-faults-"))
    survivors = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        copy_package(folder)
        python = subprocess.run(
            [PACKAGE / "scripts/python-environment"], check=True, capture_output=True, text=True,
        ).stdout.split()[-1]
        insert(faults, folder)
        if problem := build(folder) or failure_in_groups(folder, python, None):
            print(f"fails without a fault: {problem}", file=sys.stderr)
            return 2
        for place, fault in enumerate(faults, 1):
            start = time.monotonic()
            failure = failure_of(fault, folder, python)
            if not failure:
                survivors.append(fault)
            print(f"{place}/{len(faults)} {fault.path}: {fault.old!r} -> {fault.new!r}", flush=True)
            verdict = f"caught: {textwrap.shorten(failure, 300)}" if failure else "SURVIVED"
            print(f"    {time.monotonic() - start:.0f} s, {verdict}", flush=True)
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 2
    finally:
        if not arguments.folder:
            shutil.rmtree(folder, ignore_errors=True)
    caught = len(faults) - len(survivors)
    print(f"{caught} of {len(faults)} faults caught")
    for fault in survivors:
        print(f"survived: {fault.path}: {fault.old!r} -> {fault.new!r}")
    return 0 if caught >= min(arguments.least, len(faults)) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

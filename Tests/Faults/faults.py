#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation test: applies the one-line faults of faults.tsv one at a time to a copy of the package, builds
it, and runs the test targets of the module and then all others until a test fails.

Each line of faults.tsv contains a file, the text to replace, which must occur once, and its replacement.
The exit status is 1 if fewer than --least faults are caught, and 2 if a fault does not apply or compile.
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
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("faults.tsv")
TEST_PROGRAM = ".build/debug/calotypePackageTests.xctest"
# In seconds. All tests take a third of this; a fault that makes a test hang counts as detected.
TIME_LIMIT = 600


@dataclasses.dataclass
class Fault:
    path: str
    old: str
    new: str

    @property
    def module(self) -> str:
        return self.path.split("/")[1]

    def apply(self, package: pathlib.Path) -> str:
        """Changes the file, and returns its previous contents."""
        file = package / self.path
        text = file.read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.path}: {self.old!r} occurs {text.count(self.old)} times, not once")
        file.write_text(text.replace(self.old, self.new))
        return text


def read_faults(words: list[str]) -> list[Fault]:
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    faults = [Fault(*line.replace(r"\n", "\n").split("\t")) for line in lines]
    return [fault for fault in faults if not words or any(word in fault.path for word in words)]


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


def first_failure(folder: pathlib.Path, python: str, options: list[str]) -> str | None:
    """Runs tests until one fails, and returns its message.

    The tests write to a pseudo-terminal, which makes their output line-buffered.
    """
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        # Tests of traps crash on purpose; the backtracer would wait for commands on a terminal.
        environment = os.environ | {"SWIFT_BACKTRACE": "enable=no", "CALOTYPE_PYTHON": python}
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


def failure_of(fault: Fault, folder: pathlib.Path, python: str) -> str | None:
    own = f"^{fault.module}Tests\\."
    tests = folder / "Tests" / f"{fault.module}Tests"
    failure = first_failure(folder, python, ["--filter", own]) if tests.is_dir() else None
    return failure or first_failure(folder, python, ["--skip", own])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="only faults whose path has one of these words")
    parser.add_argument("--folder", type=pathlib.Path, help="keep the copy and its build here")
    parser.add_argument("--least", type=int, default=36, help="how many faults must be caught")
    arguments = parser.parse_args()

    faults = read_faults(arguments.words)
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp(prefix="calotype-faults-"))
    caught, survivors, invalid = 0, [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        copy_package(folder)
        python = subprocess.run(
            [PACKAGE / "scripts/python-environment"], check=True, capture_output=True, text=True,
        ).stdout.split()[-1]
        if problem := build(folder) or first_failure(folder, python, []):
            print(f"fails without a fault: {problem}", file=sys.stderr)
            return 2
        for number, fault in enumerate(faults, 1):
            start = time.monotonic()
            original = fault.apply(folder)
            try:
                problem = build(folder)
                failure = None if problem else failure_of(fault, folder, python)
            finally:
                (folder / fault.path).write_text(original)
            if problem:
                invalid.append(fault)
                verdict = f"does not compile: {problem}"
            elif failure:
                caught += 1
                verdict = f"caught: {failure}"
            else:
                survivors.append(fault)
                verdict = "SURVIVED"
            seconds = time.monotonic() - start
            print(f"{number}/{len(faults)} {fault.path}: {fault.old!r} -> {fault.new!r}", flush=True)
            print(f"    {seconds:.0f} s, {verdict}", flush=True)
    finally:
        if not arguments.folder:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{caught} of {len(faults)} faults caught")
    for fault in survivors:
        print(f"survived: {fault.path}: {fault.old!r} -> {fault.new!r}")
    if invalid:
        return 2
    return 0 if caught >= min(arguments.least, len(faults)) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures calotype-viewer in a virtual display: measure.py FOLDER_OF_PROGRAMS FOLDER_OF_PHOTOGRAPHS [LARGE_IMAGE]...

Prints when the first grid of 36 cells is complete, cold and warm, how long the next photograph takes, how evenly the
grid scrolls through 5,000 images, when large images appear, and the memory. The folder needs some hundred
photographs; the grid of 5,000 images contains links to them.
"""

import ctypes
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from screen import Screen

GRID = (1280, 1236)


class Keys:
    """Sends keys without starting a process for each."""

    def __init__(self, display):
        self.x11, self.test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        self.x11.XOpenDisplay.restype = ctypes.c_void_p
        self.connection = ctypes.c_void_p(self.x11.XOpenDisplay(display.encode()))
        self.x11.XStringToKeysym.restype = ctypes.c_ulong

    def press(self, name):
        symbol = ctypes.c_ulong(self.x11.XStringToKeysym(name.encode()))
        code = self.x11.XKeysymToKeycode(self.connection, symbol)
        for is_press in (1, 0):
            self.test.XTestFakeKeyEvent(self.connection, code, is_press, ctypes.c_ulong(0))
        self.x11.XFlush(self.connection)


class Measured(Screen):
    """A viewer that prints its events."""

    def __init__(self, programs, work, *arguments, **keywords):
        self.events = []
        super().__init__(programs, work, "--measure", *arguments, output=subprocess.PIPE, **keywords)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.viewer.stdout:
            moment, _, event = line.decode().strip().partition(" ")
            # Services of the D-Bus session write to the same output.
            if moment.replace(".", "").isdigit():
                self.events.append((float(moment), event))

    def event(self, prefix, after=0, seconds=60):
        """Waits for an event; returns its time and text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for moment, event in list(self.events):
                if event.startswith(prefix) and moment >= after:
                    return moment, event
            if self.viewer.poll() is not None and not self.events:
                break
            time.sleep(0.001)
        sys.exit(f"viewer: no event {prefix!r} within {seconds} s")

    def processes(self):
        """The viewer and its decoders."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                name = (folder / "cmdline").read_bytes().split(b"\0")[0].decode()
                if name.startswith(str(self.programs)):
                    yield folder, pathlib.Path(name).name
            except OSError:
                continue

    def memory(self):
        """Resident megabytes of the viewer and, in anonymous pages, of its decoders."""
        viewer, decoders = 0, 0
        for folder, name in self.processes():
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            if name == "calotype-viewer":
                viewer += int(status["VmRSS"].split()[0])
            else:
                decoders += int(status["RssAnon"].split()[0])
        return f"{viewer / 1024:.0f} MB resident, decoders {decoders / 1024:.0f} MB"

    def cpu(self):
        """Seconds of the processor."""
        ticks = 0
        for folder, _ in self.processes():
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            ticks += sum(int(value) for value in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")


def evict(folder):
    """Removes the files of a folder from the page cache."""
    os.sync()
    for path in folder.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def first_grid(open_viewer, work, photographs):
    for name in ("cold", "cold", "cold", "warm", "warm", "warm"):
        if name == "cold":
            shutil.rmtree(work / "cache", ignore_errors=True)
            evict(photographs)
        screen = open_viewer("--size", f"{GRID[0]}x{GRID[1]}", photographs, size=GRID)
        moment, event = screen.event("grid")
        time.sleep(1)
        print(f"first grid, {name}: {moment - screen.start:.3f} s, {event}; {screen.memory()}", flush=True)
        screen.close()


def next_photograph(open_viewer, photographs):
    names = sorted(path.name for path in photographs.iterdir())
    screen = open_viewer(photographs / names[0])
    screen.event(f"image {names[0]}")
    keys = Keys(screen.environment["DISPLAY"])
    time.sleep(1.5)
    paced, burst = [], []
    for name in names[1:31]:
        start = time.monotonic()
        keys.press("Right")
        paced.append(screen.event(f"image {name}", start)[0] - start)
        time.sleep(0.5)
    cpu = screen.cpu()
    for name in names[31:91]:
        start = time.monotonic()
        keys.press("Right")
        burst.append(screen.event(f"image {name}", start)[0] - start)
    cpu = screen.cpu() - cpu
    for name, values in (("paced", paced), ("burst", burst)):
        values = sorted(1000 * value for value in values)
        print(f"next photograph, {name}: median {statistics.median(values):.0f} ms, "
              f"90 % {values[len(values) * 9 // 10]:.0f} ms", flush=True)
    print(f"next photograph, burst: {1000 * cpu / len(burst):.0f} ms CPU")
    print(f"after {len(paced) + len(burst)} photographs: {screen.memory()}")
    screen.close()


def scroll(open_viewer, name, folder, seconds):
    screen = open_viewer("--scroll", str(seconds), folder)
    screen.event("grid")
    memory, cpu = "", 0
    while screen.viewer.poll() is None:
        try:
            # Without the processes that have ended, the time of the processor would decrease.
            if screen.cpu() >= cpu:
                memory, cpu = screen.memory(), screen.cpu()
        except OSError:
            pass
        time.sleep(0.2)
    print(f"scroll, {name}, {seconds} s: {screen.event('frames')[1]}; {memory}; {cpu:.1f} s CPU", flush=True)
    screen.close()


def large_image(open_viewer, work, path):
    for name in ("cold", "again"):
        if name == "cold":
            shutil.rmtree(work / "cache", ignore_errors=True)
        screen = open_viewer(path)
        moment, _ = screen.event("image")
        print(f"{path.name}, {name}: first view after {moment - screen.start:.2f} s; {screen.memory()}")
        keys = Keys(screen.environment["DISPLAY"])
        start = time.monotonic()
        keys.press("z")
        moment, _ = screen.event("tiles", start)
        print(f"{path.name}, {name}: sharp at 100 % after {moment - start:.2f} s; {screen.memory()}", flush=True)
        screen.close()


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    photographs = pathlib.Path(sys.argv[2]).resolve()
    Measured.programs = programs
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "home").mkdir()
        (work / "many").mkdir()
        files = sorted(photographs.iterdir())
        for index in range(5000):
            (work / "many" / f"{index:05}.jpg").symlink_to(files[index % len(files)])

        def open_viewer(*arguments, **keywords):
            return Measured(programs, work, *arguments, **keywords)
        first_grid(open_viewer, work, photographs)
        next_photograph(open_viewer, photographs)
        shutil.rmtree(work / "cache", ignore_errors=True)
        scroll(open_viewer, f"{len(files)} photographs, cold", photographs, 6)
        # The second pass is slow enough to load all images, so that the third one finds them stored.
        for name, seconds in (("cold", 10), ("slow", 300), ("warm", 10), ("warm", 10)):
            scroll(open_viewer, f"5,000 images, {name}", work / "many", seconds)
        for path in sys.argv[3:]:
            large_image(open_viewer, work, pathlib.Path(path).resolve())


main()

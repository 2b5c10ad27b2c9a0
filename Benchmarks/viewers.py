#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares calotype-viewer with geeqie, gthumb, gwenview and qimgv in a virtual display.

Each program runs alone, with its default settings and after an unmeasured start, in a private D-Bus session with the
accessibility bus, and in an Xvfb of 1280x800 with a window manager that maximizes windows. GTK draws with cairo. In
each round, the programs take turns.

The time starts when the program is executed, and ends when the image or the grid has its final content: every eighth
row of the frame buffer is read every 5 ms until it stays the same for some seconds, and the time is that of the first
frame from which on at most 0.5 % of the pixels differ from the last one. Drafts of images do not count. The processor
time until then and the memory (proportional set size) at the end are those of all processes of the program.

Scenes:
  file         one named photograph of the folder; only the centre of the screen is compared, without film strips
  file, cold   the same, after the page cache of the machine was dropped, which needs root
  many         one named photograph in a folder of many links to the photographs
  many, cold   the same, after the page cache was dropped
  grid         the folder of photographs, without cached thumbnails
  grid, again  the folder, with the thumbnails that the start before has cached

The last screen of each scene is written to artifacts/, so that a person can see what was measured. Needs Xvfb, dbus,
at-spi2-core, openbox and ImageMagick; programs that are not installed are skipped.
"""

import argparse
import contextlib
import mmap
import os
import pathlib
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Desktop"))

from screen import HEIGHT, WIDTH, virtual_display

SCENES = ("file", "file, cold", "many", "many, cold", "grid", "grid, again")
PEERS = ("geeqie", "gthumb", "gwenview", "qimgv")
WHOLE, CENTRE = (0, 0, WIDTH, HEIGHT), (400, 160, 896, 560)
OPENBOX = """<openbox_config xmlns="http://openbox.org/3.4/rc"><applications>
<application class="*" type="normal"><decor>no</decor><maximized>yes</maximized></application>
</applications></openbox_config>"""
# Files as icons, in most of the window; by default they are a list of names beside the first image.
GEEQIE_GRID = """<gq>
<global thumbnails.max_width="96" thumbnails.max_height="72" thumbnails.enable_caching="true"
 thumbnails.spec_standard="true">
<filter><file_type key="jpeg" enabled="true" extensions=".jpg;.jpeg" class="1" writable="true"/></filter>
</global>
<layout id="lw1" file_view_type="1" show_thumbnails="true" main_window.w="1280" main_window.h="800"
 main_window.hdivider_pos="1000" main_window.vdivider_pos="120"/>
</gq>"""


class Screen:
    """A virtual display with a window manager, a D-Bus session and the accessibility bus.

    The frame buffer is mapped into this process, so that reading it takes nothing from the programs that draw.
    """

    def __init__(self, folder):
        server, display = virtual_display((WIDTH, HEIGHT), "-fbdir", folder)
        self.processes = [server]
        with open(folder / "Xvfb_screen0", "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        fields = struct.unpack(">25I", self.memory[:100])
        # The header of an XWD file and its colour map precede the rows.
        self.start, self.stride = fields[0] + 12 * fields[19], fields[12]
        (folder / "run").mkdir(mode=0o700)
        self.environment = dict(
            os.environ, DISPLAY=display, XDG_RUNTIME_DIR=str(folder / "run"), LC_ALL="C.UTF-8", GDK_BACKEND="x11",
            GSK_RENDERER="cairo", QT_QPA_PLATFORM="xcb")
        bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"], env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        (folder / "openbox.xml").write_text(OPENBOX)
        manager = subprocess.Popen(
            ["openbox", "--config-file", folder / "openbox.xml"], env=self.environment, stderr=subprocess.DEVNULL)
        self.processes += [bus, manager]
        subprocess.run(
            ["dbus-send", "--session", "--print-reply", "--dest=org.a11y.Bus", "/org/a11y/bus",
             "org.a11y.Bus.GetAddress"], env=self.environment, stdout=subprocess.DEVNULL, check=True)
        # Until the window manager is idle.
        time.sleep(0.5)

    def pixels(self, area):
        """Every eighth row of an area."""
        left, top, right, bottom = area
        first, count = self.start + 4 * left, 4 * (right - left)
        starts = range(first + top * self.stride, first + bottom * self.stride, 8 * self.stride)
        return b"".join(self.memory[start:start + count] for start in starts)

    def save(self, path):
        subprocess.run(["import", "-window", "root", path], env=self.environment, check=True)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def processes(root):
    """The processes of the session of `root`, and their descendants: the fields of their states after the names."""
    children, states, waiting = {}, {}, []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            process = int(folder.name)
            states[process] = fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(process)
            if int(fields[3]) == root:
                waiting.append(process)
    found = {}
    while waiting:
        process = waiting.pop()
        if process not in found and process in states:
            found[process] = states[process]
            waiting += children.get(process, [])
    return found


def processor_seconds(root):
    return sum(sum(map(int, fields[11:15])) for fields in processes(root).values()) / os.sysconf("SC_CLK_TCK")


def megabytes(root):
    total = 0
    for process in processes(root):
        with contextlib.suppress(OSError):
            lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def end(program):
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes(program.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(3)
            return


def colours(pixels):
    return len(set(memoryview(pixels).cast("I")))


def watch(screen, program, area, quiet, limit):
    """Waits until the screen stays the same; returns when it was complete, and the processor seconds until then."""
    start = time.monotonic()
    frames, usage = [(0, screen.pixels(area))], [(0, 0)]
    while (now := time.monotonic() - start) < limit:
        if program.poll() is not None:
            sys.exit(f"{program.args[0]} ended with {program.returncode}")
        pixels = screen.pixels(area)
        if pixels != frames[-1][1]:
            frames.append((now, pixels))
        # A window without images may wait for a folder.
        elif now > frames[-1][0] + quiet and colours(pixels) > 1000:
            break
        if now > usage[-1][0] + 0.1:
            usage.append((now, processor_seconds(program.pid)))
        time.sleep(0.005)
    else:
        print(f"{program.args[0]}: the screen changed until the end of {limit} s", file=sys.stderr)
    last, complete = frames[-1][1], 0
    for index in reversed(range(1, len(frames))):
        complete = frames[index][0]
        pairs = zip(memoryview(frames[index - 1][1]).cast("I"), memoryview(last).cast("I"))
        if sum(one != other for one, other in pairs) > 0.005 * (len(last) // 4):
            break
    return complete, next((used for moment, used in usage if moment >= complete), usage[-1][1])


def run(command, home, scene, picture, quiet=4, limit=90):
    """Starts a program; returns the seconds until the screen is complete, the processor seconds until then, and the
    megabytes at the end."""
    with tempfile.TemporaryDirectory() as folder:
        screen = Screen(pathlib.Path(folder))
        environment = dict(
            screen.environment, HOME=str(home), XDG_CACHE_HOME=str(home / "cache"),
            XDG_CONFIG_HOME=str(home / "configuration"), XDG_DATA_HOME=str(home / "data"))
        if scene.endswith("cold"):
            os.sync()
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        program = subprocess.Popen(
            command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            complete, used = watch(screen, program, WHOLE if "grid" in scene else CENTRE, quiet, limit)
            memory = megabytes(program.pid)
            screen.save(picture)
        finally:
            end(program)
            screen.close()
        return complete, used, memory


def prepare(name, home, scene):
    """Writes settings, and removes thumbnails."""
    if scene == "grid":
        for cache in [*home.rglob("thumbnails"), home / "cache/calotype"]:
            shutil.rmtree(cache, ignore_errors=True)
    if name == "geeqie":
        settings = home / "configuration/geeqie/geeqierc.xml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.unlink(missing_ok=True)
        if "grid" in scene:
            settings.write_text(GEEQIE_GRID)


def compare(commands, homes, paths, scenes, rounds):
    """Measures all; returns the results by scene and program."""
    results = {}
    for number in range(rounds + 1):
        # The first start writes settings.
        for scene in scenes if number > 0 else scenes[:1]:
            for name, command in commands.items():
                home = homes / name
                prepare(name, home, scene)
                picture = ROOT / f"artifacts/viewers-{name}-{scene.replace(', ', '-')}.png"
                result = run([command, paths[scene.partition(",")[0]]], home, scene, picture)
                if number > 0:
                    results.setdefault((scene, name), []).append(result)
                    print(f"{scene}, {name}: {result[0]:.3f} s, {result[1]:.2f} s CPU, {result[2]:.0f} MB; "
                          f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    return results


def print_tables(results, names, scenes):
    for title, column, form in (
            ("seconds until complete", 0, "{:.2f}"), ("processor seconds", 1, "{:.2f}"), ("MB", 2, "{:.0f}")):
        print(f"\n| {title}, medians | {' | '.join(scenes)} |\n|---|{'---|' * len(scenes)}")
        for name in names:
            cells = [statistics.median(result[column] for result in results[scene, name]) for scene in scenes]
            print(f"| {name} | {' | '.join(form.format(cell) for cell in cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder of calotype-viewer and calotype-decoder")
    parser.add_argument("photographs", type=pathlib.Path, help="a folder of some hundred photographs")
    parser.add_argument("--many", type=int, default=20_000, help="links in the large folder (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="measured starts of each program (%(default)s)")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=SCENES)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS)
    options = parser.parse_args()
    photographs = options.photographs.resolve()
    commands = {"calotype-viewer": options.programs.resolve() / "calotype-viewer"}
    commands |= {name: name for name in options.peers if shutil.which(name)}
    (ROOT / "artifacts").mkdir(exist_ok=True)
    # Beside the photographs, since hard links cannot lead to another file system.
    with tempfile.TemporaryDirectory(dir=photographs.parent) as work:
        work = pathlib.Path(work)
        files = sorted(path for path in photographs.iterdir() if path.is_file())
        (work / "many").mkdir()
        for number in range(options.many):
            (work / "many" / f"{number:06}.jpg").hardlink_to(files[number % len(files)])
        for name in commands:
            (work / "homes" / name).mkdir(parents=True)
        paths = {"grid": photographs, "file": files[len(files) // 2], "many": work / f"many/{options.many // 2:06}.jpg"}
        results = compare(commands, work / "homes", paths, options.scenes, options.rounds)
    print_tables(results, commands, options.scenes)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the colours in the window of calotype-viewer with those of lcms2, in grid and image, for charts in six
profiles on three monitors: colors.py FOLDER_OF_PROGRAMS. Requires Pillow and NumPy in addition.
"""

import ctypes
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Peers"))
import monitor as monitors  # noqa: E402
from screen import HEIGHT, WIDTH, Screen, workspace  # noqa: E402
from PIL import Image  # noqa: E402

LIMIT = 1.0


def set_profile(display, profile):
    """Sets the profile of the first monitor, as colord does."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(x11.XOpenDisplay(display.encode()))
    x11.XDefaultRootWindow.restype = ctypes.c_ulong
    root = ctypes.c_ulong(x11.XDefaultRootWindow(connection))
    x11.XInternAtom.restype = ctypes.c_ulong
    name = ctypes.c_ulong(x11.XInternAtom(connection, b"_ICC_PROFILE", 0))
    x11.XChangeProperty(connection, root, name, ctypes.c_ulong(6), 8, 0, profile, len(profile))
    x11.XCloseDisplay(connection)


def pixels(screen):
    data = screen.output("import", "-window", "root", "-depth", "8", "rgb:-")
    return numpy.frombuffer(data, numpy.uint8).reshape(HEIGHT, WIDTH, 3)


def patches(image):
    """The middle of each patch."""
    rows = numpy.arange(monitors.ROWS) * image.shape[0] // monitors.ROWS + image.shape[0] // monitors.ROWS // 2
    columns = (numpy.arange(monitors.COLUMNS) * image.shape[1] // monitors.COLUMNS
               + image.shape[1] // monitors.COLUMNS // 2)
    return image[rows][:, columns]


def check(programs, work, charts, name, by_option):
    profile = charts / f"{name}.icc"
    arguments = ["--profile", profile] if by_option else []
    worst = 0
    before = None if by_option else lambda screen: set_profile(
        screen.environment["DISPLAY"], profile.read_bytes())
    screen = Screen(programs, work, *arguments, charts / "adobe.png", before=before)
    try:
        order = sorted(monitors.SPACES)
        for index, space in enumerate(order):
            screen.wait(space, lambda: screen.title().startswith(f"{space}.png – {index + 1} of 6"))
            expected = patches(numpy.asarray(Image.open(charts / f"{space}-{name}.ppm")))
            height, width = monitors.ROWS * monitors.PATCH, monitors.COLUMNS * monitors.PATCH
            top, left = (HEIGHT - height) // 2, (WIDTH - width) // 2

            def delta():
                shown = pixels(screen)[top:top + height, left:left + width]
                return monitors.difference(patches(shown), expected, monitors.MONITORS[name])
            screen.wait(f"the colours of {space} on {name}", lambda: delta() <= LIMIT)
            worst = max(worst, delta())
            screen.key("Right")
        screen.key("g")
        screen.wait("the grid", lambda: screen.pixel(2, 2) != (0x1C, 0x1C, 0x1E))
        start = (WIDTH - 6 * 204 + 12) // 2
        for index, space in enumerate(order):
            expected = patches(numpy.asarray(Image.open(charts / f"{space}-{name}.ppm")))

            def cell_delta():
                cell = pixels(screen)[12 + 24:12 + 168, start + index * 204:start + index * 204 + 192]
                return monitors.difference(patches(cell), expected, monitors.MONITORS[name])
            screen.wait(f"the cell of {space} on {name}", lambda: cell_delta() <= LIMIT)
            worst = max(worst, cell_delta())
    finally:
        screen.close()
    return worst


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with workspace() as (work, charts):
        sys.argv = ["", str(charts)]
        monitors.main()
        for index, name in enumerate(monitors.MONITORS):
            worst = check(programs, work, charts, name, by_option=index == 1)
            print(f"viewer: colours on {name}: at most {worst:.2f} CIEDE2000 from lcms2")


main()

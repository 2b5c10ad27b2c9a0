#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints an image with calotype-viewer, and makes it the wallpaper by a portal that is part of this test: desktop.py
FOLDER_OF_PROGRAMS. Requires python3-gi in addition to the programs of screen.py.
"""

import os
import subprocess
import sys
import threading
import time
import zlib

from screen import png, run_in_session

WIDTH, HEIGHT, COLOR = 1200, 900, (200, 100, 0)
INTERFACE = """<node><interface name="org.freedesktop.portal.Wallpaper"><method name="SetWallpaperFile">
<arg type="s" direction="in"/><arg type="h" direction="in"/><arg type="a{sv}" direction="in"/>
<arg type="o" direction="out"/></method></interface></node>"""


def serve_portal(received):
    """Owns the name of the portals, and receives the bytes of wallpapers."""
    from gi.repository import Gio, GLib

    def call(connection, sender, path, interface, method, parameters, invocation):
        descriptor = invocation.get_message().get_unix_fd_list().get(parameters[1])
        with os.fdopen(descriptor, "rb") as file:
            received.append((parameters[2], file.read()))
        invocation.return_value(GLib.Variant("(o)", ("/request",)))
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.register_object("/org/freedesktop/portal/desktop",
                        Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], call)
    ready = threading.Event()
    Gio.bus_own_name_on_connection(bus, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.NONE,
                                   lambda *_: ready.set(), None)
    threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
    ready.wait()


def shows_picture(document):
    """Whether a PDF document contains the picture in its size, without loss."""
    for part in document.split(b"stream\n")[1:]:
        try:
            pixels = zlib.decompressobj().decompress(part)
        except zlib.error:
            continue
        if pixels == bytes(COLOR) * (WIDTH * HEIGHT):
            return True
    return False


def wait(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"viewer: {what}: not within {seconds} s")
        time.sleep(0.05)


def windows():
    return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "."], capture_output=True).stdout.split()


def run(programs, work):
    received = []
    serve_portal(received)
    picture, home = work / "pictures/a.png", work / "home"
    viewer = subprocess.Popen([programs / "calotype-viewer", picture], cwd=home)
    try:
        wait("the window", windows)
        time.sleep(1)
        subprocess.run(["xdotool", "key", "b"], check=True)
        wait("the wallpaper", lambda: received)
        options, contents = received[0]
        if contents != picture.read_bytes() or options.get("set-on") != "background":
            sys.exit(f"viewer: the portal received {len(contents)} bytes with {options}")
        subprocess.run(["xdotool", "key", "ctrl+p"], check=True)
        wait("the dialog", lambda: len(windows()) > 1)
        time.sleep(1)
        # The first printer of the list, a file, and the button "Print" at their positions in GTK 4.8; without a
        # window manager, the dialog is at the top left corner.
        subprocess.run(["xdotool", "mousemove", "84", "90", "click", "1", "sleep", "0.5", "mousemove", "588",
                        "484", "click", "1"], check=True)

        def prints():
            return any(shows_picture(path.read_bytes()) for path in home.glob("*.pdf"))
        wait("the file that is printed", prints)
    finally:
        viewer.kill()
    print("viewer: the portal received the wallpaper, and a file contains the image that was printed")


def prepare(pictures):
    (pictures / "a.png").write_bytes(png(WIDTH, HEIGHT, COLOR))


run_in_session(run, prepare)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs calotype-thumbnailer as file managers do: in the sandbox of gnome-desktop, with bubblewrap, and by
tumbler over a private D-Bus. Skips what is not installed.

usage: thumbnailer.py FOLDER_OF_PROGRAMS [FOLDER_OF_HOSTILE_FILES]

Each hostile file must end within 5 s and 256 MiB, whatever the result.
"""

import ctypes
import errno
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ("calotype-thumbnailer", "calotype-decoder")
# PyGObject is installed for the Python of the system.
PYTHON = "/usr/bin/python3"
TUMBLER = "/usr/lib/x86_64-linux-gnu/tumbler-1/tumblerd"
SAMPLES = sorted((ROOT / "Corpus").glob("*/valid/*"))


def fail(message):
    sys.exit(f"thumbnailer: {message}")


def texts(path):
    """The text chunks of a PNG file."""
    data, offset, found = path.read_bytes(), 8, {}
    while offset < len(data):
        length, kind = struct.unpack(">I4s", data[offset:offset + 8])
        if kind == b"tEXt":
            keyword, value = data[offset + 8:offset + 8 + length].split(b"\0", 1)
            found[keyword.decode()] = value.decode("latin-1")
        offset += length + 12
    return found


def write_filter(file):
    """Writes the system call filter of gnome-desktop: what it refuses, in short."""
    seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    allow, refuse = 0x7FFF0000, 0x00050000 | errno.EPERM
    context = ctypes.c_void_p(seccomp.seccomp_init(allow))
    for name in ("syslog", "uselib", "acct", "quotactl", "add_key", "keyctl", "request_key", "move_pages",
                 "mbind", "get_mempolicy", "set_mempolicy", "migrate_pages", "unshare", "setns", "mount",
                 "umount2", "pivot_root", "chroot", "ptrace", "perf_event_open", "personality"):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        seccomp.seccomp_rule_add(context, refuse, number, 0)

    class Comparison(ctypes.Structure):
        _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                    ("b", ctypes.c_uint64)]

    masked_equal, new_user = 7, 0x10000000
    clone = seccomp.seccomp_syscall_resolve_name(b"clone")
    rule = (Comparison * 1)(Comparison(0, masked_equal, new_user, new_user))
    seccomp.seccomp_rule_add_array(context, refuse, clone, 1, rule)
    clone3 = seccomp.seccomp_syscall_resolve_name(b"clone3")
    seccomp.seccomp_rule_add(context, 0x00050000 | errno.ENOSYS, clone3, 0)
    if seccomp.seccomp_export_bpf(context, file.fileno()) != 0:
        fail("cannot write the system call filter")
    file.flush()
    os.lseek(file.fileno(), 0, os.SEEK_SET)


def runtime(programs):
    """The options for the libraries of a debug build that are not in /usr."""
    output = subprocess.run(["ldd", programs / PROGRAMS[0]], capture_output=True, text=True).stdout
    paths = [line.split()[2] for line in output.splitlines() if " => /" in line]
    folders = {os.path.dirname(path) for path in paths if not path.startswith(("/usr/", "/lib"))}
    return [argument for folder in sorted(folders) for argument in ("--ro-bind", folder, folder)]


def in_bubblewrap(programs, work, original):
    """Runs the program on one file in the sandbox of gnome-desktop; returns the thumbnail."""
    output = work / "tmp"
    output.mkdir(exist_ok=True)
    inside = f"/tmp/gnome-desktop-file-to-thumbnail{original.suffix}"
    with tempfile.TemporaryFile() as rules:
        write_filter(rules)
        os.set_inheritable(rules.fileno(), True)
        command = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
                   "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
        for folder in ("bin", "lib", "lib64", "sbin"):
            if os.path.islink(f"/{folder}"):
                command += ["--symlink", f"usr/{folder}", f"/{folder}"]
        command += ["--proc", "/proc", "--dev", "/dev", "--chdir", "/", "--unshare-all", "--die-with-parent",
                    "--clearenv", "--setenv", "GIO_USE_VFS", "local", "--setenv", "PATH", "/usr/bin",
                    "--bind", output, "/tmp", "--ro-bind", original, inside, "--ro-bind", programs, "/run/calotype",
                    *runtime(programs), "--seccomp", str(rules.fileno()),
                    "/run/calotype/calotype-thumbnailer", "-s", "256", f"file://{inside}", "/tmp/thumbnail.png"]
        result = subprocess.run(command, pass_fds=[rules.fileno()], capture_output=True, text=True)
    if result.returncode != 0:
        fail(f"under bwrap, {original}: {result.stderr.strip()}")
    thumbnail = output / "thumbnail.png"
    if texts(thumbnail).get("Thumb::URI") != f"file://{inside}":
        fail(f"under bwrap, {original}: wrong Thumb::URI")
    thumbnail.unlink()


def test_bubblewrap(programs, work):
    if not shutil.which("bwrap") or subprocess.run(
            ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True).returncode:
        print("thumbnailer: skipped: bwrap is missing, or may not create namespaces")
        return
    by_format = {path.parent.parent.name: path for path in SAMPLES if path.parent.parent.name != "svg"}
    for original in by_format.values():
        in_bubblewrap(programs, work, original)
    print(f"bwrap: {len(by_format)} formats")


CLIENT = """
import sys
from gi.repository import Gio, GLib
uris = sys.argv[1:]
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
loop = GLib.MainLoop()
name = "org.freedesktop.thumbnails.Thumbnailer1"
def received(_, sender, path, interface, signal, parameters):
    print(signal, *parameters.unpack(), flush=True)
    if signal == "Finished":
        loop.quit()
bus.signal_subscribe(name, name, None, None, None, Gio.DBusSignalFlags.NONE, received)
bus.call_sync(name, "/org/freedesktop/thumbnails/Thumbnailer1", name, "Queue",
              GLib.Variant("(asasssu)", (uris, ["image/qoi"] * len(uris), "large", "foreground", 0)),
              None, Gio.DBusCallFlags.NONE, -1)
GLib.timeout_add_seconds(60, loop.quit)
loop.run()
"""


def test_tumbler(programs, work):
    has_client = subprocess.run([PYTHON, "-c", "import gi"], capture_output=True).returncode == 0
    if not os.path.exists(TUMBLER) or not shutil.which("dbus-run-session") or not has_client:
        print("thumbnailer: skipped: tumbler, dbus-run-session or python3-gi is missing")
        return
    data, cache, home = work / "data", work / "cache", work / "home"
    (data / "thumbnailers").mkdir(parents=True)
    home.mkdir()
    entry = (ROOT / "Packaging/desktop/calotype.thumbnailer").read_text()
    entry = entry.replace("=calotype-thumbnailer", f"={programs}/calotype-thumbnailer")
    (data / "thumbnailers/calotype.thumbnailer").write_text(entry)
    # No other thumbnailer reads this format.
    original = home / "a \u00e9 #%.qoi"
    shutil.copy(next(path for path in SAMPLES if path.suffix == ".qoi"), original)
    uri = "file://" + urllib.parse.quote(os.fsencode(original), safe="!$&'()*+,-./:=@_~")
    environment = dict(os.environ, HOME=str(home), XDG_CACHE_HOME=str(cache), XDG_DATA_HOME=str(data))
    result = subprocess.run(["dbus-run-session", "--", PYTHON, "-c", CLIENT, uri],
                            env=environment, capture_output=True, text=True, timeout=120)
    thumbnails = list((cache / "thumbnails/large").glob("*.png"))
    if len(thumbnails) != 1 or texts(thumbnails[0]).get("Thumb::URI") != uri:
        fail(f"tumbler: no thumbnail of {uri}\n{result.stdout}{result.stderr}")
    print("tumbler: one thumbnail, with its URI")


def resident(processes):
    """The memory of processes in KiB; pages of mapped files are not included."""
    total = 0
    for process in processes:
        try:
            for line in open(f"/proc/{process}/status"):
                if line.startswith(("RssAnon", "RssShmem")):
                    total += int(line.split()[1])
        except OSError:
            pass
    return total


def descendants(process):
    found = [process]
    for parent in found:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                found += map(int, open(f"/proc/{parent}/task/{task}/children").read().split())
        except OSError:
            pass
    return found


def test_hostile(programs, work, folder):
    slowest, largest = (0, ""), (0, "")
    files = [path for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()]
    for path in files:
        start, most = time.monotonic(), 0
        process = subprocess.Popen([programs / "calotype-thumbnailer", "-s", "256", path, work / "out.png"],
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None:
            most = max(most, resident(descendants(process.pid)))
            time.sleep(0.003)
        slowest = max(slowest, (time.monotonic() - start, path.name))
        largest = max(largest, (most / 1024, path.name))
    print(f"hostile files: {len(files)}; slowest {slowest[0]:.2f} s ({slowest[1]}); "
          f"largest {largest[0]:.0f} MiB ({largest[1]})")
    if slowest[0] > 5 or largest[0] > 256:
        fail("a hostile file exceeded 5 s or 256 MiB")


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        copies = work / "programs"
        copies.mkdir()
        for name in PROGRAMS:
            shutil.copy(programs / name, copies / name)
        test_bubblewrap(copies, work)
        test_tumbler(copies, work)
        if len(sys.argv) > 2:
            test_hostile(copies, work, sys.argv[2])


main()

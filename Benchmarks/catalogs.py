#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures compiled asset catalogs: BENCH ASSETS [CATALOG]...

BENCH is the program of Benchmarks/Catalogs, ASSETS is calotype-assets. Prints the time to open a file of 10,000
names, of a lookup and until the first pixels; the time and the number of system calls to read 500 icons, and the
same for loose PNG files, which a codec decodes without a pipeline; and the size of compiled files, compared with
their PNG files and with glib-compile-resources. Icons are the symbolic ones of Adwaita, as PNG.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ADWAITA = "/usr/share/icons/Adwaita"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def add(folder, name, files):
    """Writes an image set of files by their scales."""
    path = os.path.join(folder, name + ".imageset")
    os.makedirs(path)
    images = []
    for scale, file in files.items():
        shutil.copyfile(file, os.path.join(path, f"{scale}x.png"))
        images.append({"idiom": "universal", "scale": f"{scale}x", "filename": f"{scale}x.png"})
    with open(os.path.join(path, "Contents.json"), "w") as contents:
        json.dump({"images": images}, contents)


def compile_catalog(assets, folder, output, *options):
    # Catalogs of applications name files that are missing, which is reported.
    subprocess.run([assets, "compile", folder, "-o", output, "--quiet", *options],
                   stderr=subprocess.DEVNULL, check=False)
    return os.path.getsize(output)


def png_files(folder):
    return sorted(glob.glob(glob.escape(folder) + "/**/*.png", recursive=True))


def resource_size(files, folder, is_compressed):
    """The size of a GResource file of the same PNG files."""
    attribute = ' compressed="true"' if is_compressed else ""
    lines = []
    for index, file in enumerate(files):
        link = os.path.join(folder, f"{index}.png")
        if not os.path.exists(link):
            os.symlink(os.path.abspath(file), link)
        lines.append(f"<file{attribute}>{index}.png</file>")
    description = os.path.join(folder, "list.gresource.xml")
    with open(description, "w") as file:
        file.write('<gresources><gresource prefix="/icons">' + "".join(lines)
                   + "</gresource></gresources>")
    output = os.path.join(folder, "list.gresource")
    run("glib-compile-resources", "--target=" + output, "--sourcedir=" + folder, description)
    return os.path.getsize(output)


def system_calls(*command):
    """The number of system calls of a program, the first in the list of strace."""
    with tempfile.NamedTemporaryFile("r") as output:
        subprocess.run(["strace", "-f", "-c", "-o", output.name, *command], check=True,
                       capture_output=True)
        return int(re.search(r"(\d+)\s+(?:\d+\s+)?total", output.read()).group(1))


def report_sizes(assets, name, folder, work):
    files = png_files(folder)
    total = sum(os.path.getsize(file) for file in files)
    resources = os.path.join(work, name)
    os.makedirs(resources)
    plain = resource_size(files, resources, False)
    packed = resource_size(files, resources, True)
    for preference in ["speed", "size"]:
        report = os.path.join(work, "report.json")
        size = compile_catalog(assets, folder, os.path.join(work, name + ".assets"),
                               "--optimize", preference, "--report", report)
        with open(report) as entries:
            others = sum(entry["storedBytes"] for entry in json.load(entries)
                         if not entry["file"].endswith(".png"))
        print(f"{name}: {len(files)} PNG files of {total} bytes; compiled for {preference} "
              f"{size - others} bytes without other files, {(size - others) / total:.2f} times; "
              f"GResource {plain}, compressed {packed}")


def main():
    bench, assets = sys.argv[1:3]
    icons = sorted(glob.glob(ADWAITA + "/16x16/*/*-symbolic.symbolic.png"))
    with tempfile.TemporaryDirectory() as work:
        names = os.path.join(work, "names")
        for index in range(10_000):
            add(names, f"Group {index % 50}/icon {index}", {1: icons[index % len(icons)]})
        compile_catalog(assets, names, os.path.join(work, "names.assets"))
        print(run(bench, "lookup", os.path.join(work, "names.assets")))

        loose = os.path.join(work, "loose")
        for index, icon in enumerate(icons[:500]):
            add(loose, f"icon {index}", {1: icon})
        compiled = os.path.join(work, "loose.assets")
        compile_catalog(assets, loose, compiled)
        for mode, path in [("compiled", compiled), ("loose", loose)]:
            times = [float(run(bench, mode, path, "500").split()[0]) for _ in range(15)]
            calls = system_calls(bench, mode, path, "500") - system_calls(bench, mode, path, "0")
            print(f"500 icons, {mode}: {min(times):.3f} ms, {calls} system calls for the icons")

        symbolic = os.path.join(work, "symbolic")
        for icon in icons:
            sizes = {1: icon, 2: icon.replace("16x16", "32x32"), 3: icon.replace("16x16", "48x48")}
            name = os.path.basename(icon).replace(".symbolic.png", "")
            add(symbolic, f"{name} {os.path.basename(os.path.dirname(icon))}",
                {scale: file for scale, file in sizes.items() if os.path.exists(file)})
        report_sizes(assets, "Adwaita", symbolic, work)
        for index, catalog in enumerate(sys.argv[3:]):
            print(catalog)
            report_sizes(assets, f"catalog {index}", catalog, work)


if __name__ == "__main__":
    main()

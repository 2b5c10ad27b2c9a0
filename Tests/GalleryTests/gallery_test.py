#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the gallery page of a running server in Chromium, and takes its screenshots.

Needs a server with at least one folder of some dozens of pictures; checks of things that the
server's folders do not have are skipped. Nothing on the server is changed.

    pip install -r requirements.txt
    ./gallery_test.py --server http://localhost:8080 --artifacts /tmp/gallery
"""

import argparse
import os
import pathlib
import sys
import traceback

from playwright.sync_api import sync_playwright

from browsing_checks import BrowsingChecks
from gallery_driver import GalleryPage, fetch_listing, find_folders
from order_checks import OrderChecks
from pace_checks import PaceChecks
from panel_checks import PanelChecks
from placeholder_checks import PlaceholderChecks
from scale_checks import ScaleChecks
from trouble_checks import TroubleChecks
from viewing_checks import ViewingChecks
from zoom_checks import ZoomChecks


class Report:
    """One line per check, and the sum."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, passed, detail=""):
        if passed:
            self.passed += 1
        else:
            self.failed += 1
        print(
            f"{'ok' if passed else 'FAIL'} {name}" + (f" ({detail})" if detail else ""), flush=True
        )

    def skip(self, name, why):
        print(f"skip {name} ({why})", flush=True)


class GalleryTest(
    BrowsingChecks,
    ViewingChecks,
    TroubleChecks,
    PlaceholderChecks,
    PaceChecks,
    OrderChecks,
    ZoomChecks,
    PanelChecks,
    ScaleChecks,
):
    """The checks; each starts with a page of its own."""

    def __init__(self, browser, server, artifacts, report, is_quiet):
        self.browser, self.server, self.artifacts, self.report = browser, server, artifacts, report
        self.is_quiet = is_quiet
        self.check = report.check
        self.folder, self.parent = find_folders(server)
        if self.folder is None:
            sys.exit("the server has no pictures")
        self.listing = fetch_listing(server, self.folder)
        self.names = self.listing["pictures"]["name"]
        self.total = self.listing["total"]

    # Those of many pictures and of pace, which take as long as all others.
    DEEP = ("paces", "scale")

    def run(self, only, is_deep):
        for part in (
            self.modules,
            self.placeholders,
            self.first_screen,
            self.scrolling,
            self.paces,
            self.viewing,
            self.zooming,
            self.panels,
            self.keyboard,
            self.orders,
            self.density,
            self.folders,
            self.scale,
            self.changes,
            self.giving_up,
            self.troubles,
            self.phone,
            self.appearances,
        ):
            if only and part.__name__ not in only:
                continue
            if part.__name__ in self.DEEP and not is_deep and not only:
                self.report.skip(part.__name__, "make test-deep has it")
                continue
            try:
                part()
            except Exception as error:  # a check that cannot go on is a failure, not the end
                traceback.print_exc()
                self.check(f"{part.__name__}: goes to its end", False, str(error).splitlines()[0])

    def open(self, folder=None, **options):
        gallery = GalleryPage(self.browser, self.server, **options)
        gallery.open(self.folder if folder is None else folder)
        return gallery

    def screenshot(self, gallery, name):
        gallery.page.screenshot(path=self.artifacts / name)

    def check_tiles(self, gallery, name, listing=None):
        """Every visible tile has its own picture, made for exactly its device pixels."""
        listing = listing or self.listing
        pictures = listing["pictures"]
        tiles = gallery.tiles()
        wrong = []
        for tile in tiles:
            index = tile["position"] - 1
            if pictures["name"][index] != tile["name"]:
                wrong.append(f"{tile['name']} is at {index}")
            elif tile["failed"]:
                if index not in pictures["error"]:
                    wrong.append(f"{tile['name']} failed: {tile['text']}")
            else:
                expected = gallery.expected_step(listing, tile)
                asked = set(gallery.traffic.boxes.get(tile["name"], []))
                if asked != {expected}:
                    wrong.append(f"{tile['name']} asked for {asked}, needs {expected}")
                shown = tile["naturalWidth"] / tile["naturalHeight"]
                real = pictures["width"][index] / pictures["height"][index]
                tolerance = 0.02 + 1.5 / min(tile["naturalWidth"], tile["naturalHeight"])
                if abs(shown / real - 1) > tolerance:
                    wrong.append(f"{tile['name']} shows something of {shown:.2f}, not {real:.2f}")
        detail = "; ".join(wrong[:3]) or f"{len(tiles)} tiles"
        self.check(name, not wrong, detail)

    def check_quiet(self, gallery, name):
        self.check(
            f"{name}: no console message, no failed request",
            not gallery.traffic.troubles,
            "; ".join(gallery.traffic.troubles[:3]),
        )

    def wait_for_listing(self, gallery):
        """Waits until the grid is as high as the layout of all pictures: pages come one by one."""
        pictures = self.listing["pictures"]
        aspects = [w / h if h else 1 for w, h in zip(pictures["width"], pictures["height"])]
        gallery.wait(
            """async (aspects) => {
            const { justifiedRows } = await import("/-/gallery/layout.js");
            const { gapFor, rowHeightFor } = await import("/-/gallery/density.js");
            const grid = document.querySelector("#grid");
            const width = grid.clientWidth;
            const mean = Math.max(0.3, aspects.reduce((sum, a) => sum + a) / aspects.length);
            const rowHeight = rowHeightFor("medium", width, innerHeight, mean);
            const { height } = justifiedRows(aspects, width, rowHeight, gapFor(width));
            return grid.offsetHeight === Math.min(height, 8_000_000);
        }""",
            aspects,
        )

    def wait_for_exact(self, gallery, name):
        """Waits until the viewer shows a picture sharp; answers what it is shown as."""
        gallery.wait(
            """(name) => {
            const exact = document.querySelector('[data-part="exact"]');
            return exact.alt === name && !exact.hidden && exact.naturalWidth > 0;
        }""",
            name,
        )
        return gallery.page.evaluate("""() => {
            const frame = document.querySelector('[data-part="frame"]');
            const { width, height } = frame.getBoundingClientRect();
            const exact = document.querySelector('[data-part="exact"]');
            return { width, height, source: exact.naturalWidth / exact.naturalHeight };
        }""")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True, help="URL of a running server")
    parser.add_argument(
        "--artifacts", type=pathlib.Path, default=pathlib.Path("."), help="where screenshots go"
    )
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser's executable")
    parser.add_argument("--deep", action="store_true", help="many pictures, and pace, as well")
    parser.add_argument("--only", nargs="*", help="names of checks, such as viewing")
    parser.add_argument(
        "--quiet-machine", action="store_true", help="fail for late frames; else they are told"
    )
    options = parser.parse_args()
    options.artifacts.mkdir(parents=True, exist_ok=True)
    report = Report()
    # Chromium's sandbox does not work for root, as whom containers often run.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=flags)
        test = GalleryTest(
            browser, options.server.rstrip("/"), options.artifacts, report, options.quiet_machine
        )
        test.run(options.only, options.deep)
        browser.close()
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()

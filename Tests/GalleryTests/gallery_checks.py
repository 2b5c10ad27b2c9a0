# SPDX-License-Identifier: Apache-2.0
"""The base class of all checks."""

import pytest

from gallery_driver import GalleryPage

# Scrolls by screens, one per frame, until the page draws tiles as one shape; returns their rectangles in the window.
PASS = """(start) => new Promise((done) => {
  const drawing = document.querySelector("#grid .blank");
  let top = start;
  let drawn = null;
  new MutationObserver(() => {
    const { left, top } = drawing.getBoundingClientRect();
    const parts = drawing.firstElementChild.getAttribute("d").matchAll(/M(-?\\d+) (-?\\d+)h(\\d+)v(\\d+)/g);
    const rectangles = Array.from(parts, ([, ...numbers]) => numbers.map(Number));
    if (rectangles.length > 0) drawn = rectangles.map(([x, y, width, height]) => [left + x, top + y, width, height]);
  }).observe(drawing.firstElementChild, { attributes: true });
  requestAnimationFrame(function step() {
    if (drawn !== null || top > start + 600 * innerHeight) return done(drawn ?? []);
    top += 2 * innerHeight;
    scrollTo({ top, behavior: "instant" });
    requestAnimationFrame(step);
  });
})"""


class GalleryChecks:
    """Opens pages and reports checks; each test opens a page of its own."""

    def prepare(self, subtests, browser, server, folder, artifacts, is_quiet):
        self.subtests, self.browser, self.server = subtests, browser, server
        self.artifacts, self.is_quiet = artifacts, is_quiet
        self.folder, self.parent = folder.path, folder.parent
        self.listing, self.names, self.total = folder.listing, folder.names, folder.total

    def check(self, name, passed, detail=""):
        """Reports a check; a failed check does not end the test."""
        print(f"{'ok' if passed else 'FAIL'} {name}" + (f" ({detail})" if detail else ""), flush=True)
        with self.subtests.test(name):
            assert passed, detail

    def check_time(self, name, passed, detail):
        """Reports a check of time, which only a quiet machine can fail; elsewhere it is skipped, with what was measured."""
        if self.is_quiet:
            self.check(name, passed, detail)
        else:
            self.skip_check(name, f"{'met' if passed else 'missed'}, and checked only on a quiet machine: {detail}")

    def skip(self, why):
        pytest.skip(why)

    def skip_check(self, name, why):
        print(f"skip {name} ({why})", flush=True)

    def open(self, folder=None, **options):
        gallery = GalleryPage(self.browser, self.server, **options)
        gallery.open(self.folder if folder is None else folder)
        return gallery

    def screenshot(self, gallery, name):
        gallery.page.screenshot(path=self.artifacts / name)

    def check_tiles(self, gallery, name, listing=None):
        """Checks that every visible tile shows its own image, at the size of its device pixels."""
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
                    wrong.append(f"{tile['name']} requested {asked}, expected {expected}")
                shown = tile["naturalWidth"] / tile["naturalHeight"]
                real = pictures["width"][index] / pictures["height"][index]
                tolerance = 0.02 + 1.5 / min(tile["naturalWidth"], tile["naturalHeight"])
                if abs(shown / real - 1) > tolerance:
                    wrong.append(f"{tile['name']} has the aspect ratio {shown:.2f}, not {real:.2f}")
        detail = "; ".join(wrong[:3]) or f"{len(tiles)} tiles"
        self.check(name, not wrong, detail)

    def check_passing_tiles(self, gallery, name, start):
        """Scrolls fast from an offset; checks that blank tiles are drawn where the tiles are afterwards."""
        drawn = gallery.page.evaluate(PASS, start)
        tiles = gallery.tiles()
        missing = [
            tile["position"] for tile in tiles
            if [tile[edge] for edge in ("left", "top", "width", "height")] not in drawn]
        # The first visible tile is the tab stop, which is always an element.
        self.check(f"{name}: passing images are drawn where their tiles are", len(missing) <= 1, missing)
        left = gallery.page.evaluate("document.querySelector('#grid .blank path').getAttribute('d')")
        self.check(f"{name}: at rest each image has a tile", left == "", left)

    def check_quiet(self, gallery, name):
        self.check(
            f"{name}: no console message, no failed request",
            not gallery.traffic.troubles,
            "; ".join(gallery.traffic.troubles[:3]),
        )

    def wait_for_listing(self, gallery):
        """Waits until the grid has the height of all images: the listing arrives in pages."""
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
        """Waits until the viewer shows a sharp image; returns its size on screen and aspect ratio."""
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

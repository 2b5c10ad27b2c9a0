# SPDX-License-Identifier: Apache-2.0
"""The requests while the grid scrolls fast, scrolls slowly and rests."""

import pytest
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

# Scrolls by a number of screens per second for a time, independently of the frame rate; resolves at the
# end.
SCROLL = """([screens, milliseconds]) => new Promise((done) => {
  const start = performance.now();
  let last = start;
  requestAnimationFrame(function step(now) {
    if (now - start > milliseconds) return done();
    const seconds = Math.max(now - last, 0) / 1000;
    last = now;
    scrollBy({ top: screens * seconds * innerHeight, behavior: "instant" });
    requestAnimationFrame(step);
  });
})"""


class PaceChecks(GalleryChecks):
    """Three speeds: placeholders only, one step lower, exact sizes."""

    @pytest.mark.deep
    def test_paces(self):
        with start_synthetic_server(count=20_000) as server:
            for name, screens, check in (
                ("flying", 20, self.check_flying),
                ("moving", 1.2, self.check_moving),
            ):
                gallery = GalleryPage(self.browser, server)
                gallery.open("many")
                gallery.tiles()
                known = set(gallery.traffic.boxes)
                gallery.page.evaluate(SCROLL, [screens, 1500])
                asked = {
                    name: list(sides)
                    for name, sides in gallery.traffic.boxes.items()
                    if name not in known
                }
                check(asked)
                self.check_rest(gallery, name)
                self.check_quiet(gallery, name)
                gallery.close()

    def check_flying(self, asked):
        # The page averages the speed, so the first frames still count as slow.
        self.check(
            "flying: few images are requested", len(asked) < 30, f"{len(asked)} images"
        )

    def check_moving(self, asked):
        self.check("moving: images are requested", len(asked) > 5, f"{len(asked)} images")

    def check_rest(self, gallery, name):
        tiles = gallery.tiles()
        listing = self.synthetic_listing(gallery)
        deadline_frames = 60
        for _ in range(deadline_frames):
            blurred = []
            for tile in gallery.visible_tiles():
                expected = gallery.expected_step(listing, tile)
                if max(tile["naturalWidth"], tile["naturalHeight"]) < expected:
                    blurred.append(tile["name"])
            if not blurred:
                break
            gallery.next_frame()
        self.check(f"{name}, then at rest: every image is sharp", not blurred, f"{len(tiles)}")
        if name == "moving":
            coarser = 0
            for tile in tiles:
                sides = gallery.traffic.boxes.get(tile["name"], [])
                step = gallery.expected_step(listing, tile)
                lower = listing["ladder"][listing["ladder"].index(step) - 1]
                coarser += sides[:1] == [lower]
            self.check(
                "moving: a lower step was requested first", coarser > 0, f"{coarser} of {len(tiles)}"
            )

    def synthetic_listing(self, gallery):
        """Returns the complete listing in the form that `expected_step` requires."""
        return gallery.page.evaluate("""async () => {
            const { loadFolder } = await import("/-/gallery/folder-listing.js");
            const { signal } = new AbortController();
            const { ladder, widths, heights } = await loadFolder("many", { signal });
            return { ladder, pictures: { width: widths, height: heights } };
        }""")

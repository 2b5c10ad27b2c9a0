# SPDX-License-Identifier: Apache-2.0
"""Folders and their images, on several kinds of screens."""

import pathlib
import re
from urllib.parse import unquote

from gallery_checks import GalleryChecks
from gallery_driver import folder_hash

MOST_TILES = 200
SCREENS = 20


class BrowsingChecks(GalleryChecks):
    """Browses folders with a mouse or by touch."""

    def test_modules(self):
        gallery = self.open()
        gallery.tiles()
        script = (pathlib.Path(__file__).parent / "layout_checks.js").read_text()
        function = script[script.index("async () =>") :].rstrip().rstrip(";")
        for name, passed, detail in gallery.page.evaluate(function):
            self.check(name, passed, detail)
        gallery.close()

    def test_first_screen(self):
        gallery = self.open()
        self.check_tiles(gallery, "first screen: each tile has its image at the step of the ladder")
        gallery.wait("(total) => document.querySelector('.tile').ariaSetSize == total", self.total)
        title = gallery.page.inner_text("#title")
        name = self.folder.split("/")[-1] or "Images"
        self.check("first screen: the title is the name of the folder", title == name, title)
        summary = gallery.page.inner_text("#summary")
        self.check(
            "first screen: the summary has the number of images", f"{self.total:,} image" in summary, summary
        )
        self.check_height(gallery)
        self.check_quiet(gallery, "first screen")
        gallery.close()

    def check_height(self, gallery):
        self.wait_for_listing(gallery)
        page, grid = gallery.page.evaluate(
            "[document.documentElement.scrollHeight, document.querySelector('#grid').offsetHeight]"
        )
        self.check("first screen: the page has the height of its layout", page > grid, f"{grid} px")

    def test_scrolling(self):
        gallery = self.open()
        gallery.tiles()
        self.wait_for_listing(gallery)
        most, screens = 0, 0
        for screen in range(1, SCREENS + 1):
            before = gallery.page.evaluate("scrollY")
            gallery.page.evaluate("scrollBy({ top: innerHeight, behavior: 'instant' })")
            if gallery.page.evaluate("scrollY") == before:
                break
            gallery.next_frame()
            self.check_tiles(gallery, f"scrolling: every tile has its image, screen {screen}")
            most = max(most, gallery.tile_count())
            screens = screen
        self.check(
            f"scrolling: at most {MOST_TILES} tiles over {screens} screens",
            most <= MOST_TILES,
            f"{most}",
        )
        gallery.page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
        gallery.wait(
            "(total) => document.querySelector('.tile:last-child').ariaPosInSet == total",
            self.total,
        )
        self.check_tiles(gallery, "scrolling: the end is reached and has its images")
        tiles = gallery.page.evaluate("document.querySelectorAll('.tile').length")
        self.check("scrolling: few tiles at the end", tiles <= MOST_TILES, f"{tiles}")
        asked = sum(len(sides) for sides in gallery.traffic.boxes.values())
        gallery.page.evaluate("scrollBy({ top: -innerHeight / 2, behavior: 'instant' })")
        gallery.tiles()
        gallery.page.evaluate("scrollBy({ top: innerHeight / 2, behavior: 'instant' })")
        gallery.tiles()
        again = [
            name for name, sides in gallery.traffic.boxes.items() if len(sides) > len(set(sides))
        ]
        self.check(
            "scrolling: visible tiles are not requested twice",
            not again,
            f"{len(again)} of {asked} twice",
        )
        self.check(
            "scrolling: at most 6 requests at a time",
            gallery.traffic.most_in_flight <= 6,
            f"{gallery.traffic.most_in_flight}",
        )
        self.check_quiet(gallery, "scrolling")
        gallery.close()

    def test_density(self):
        gallery = self.open()
        heights = {}
        for size in ("small", "medium", "large"):
            gallery.page.check(f"#density [value={size}]", force=True)
            heights[size] = gallery.tiles()[0]["height"]
            self.check(
                f"density: few tiles at {size}",
                gallery.tile_count() <= MOST_TILES,
                f"{gallery.tile_count()}",
            )
        self.check(
            "density: row heights increase from small to large",
            heights["small"] < heights["medium"] < heights["large"],
            f"{heights}",
        )
        gallery.page.reload()
        self.check(
            "density: the choice is stored", gallery.tiles()[0]["height"] == heights["large"]
        )
        self.check_quiet(gallery, "density")
        gallery.close()

    def test_folders(self):
        if self.parent is None:
            return self.skip("no folder contains folders")
        gallery = self.open(self.parent)
        page = gallery.page
        page.wait_for_selector("#cards a")
        gallery.wait("document.querySelector('#summary').textContent !== ''")
        page.evaluate("scrollBy({ top: 40, behavior: 'instant' })")
        before = page.evaluate("scrollY")
        card = page.locator("#cards a").first
        name = card.locator("strong").inner_text()
        card.click()
        gallery.wait("(name) => document.querySelector('#title').textContent === name", name)
        crumbs = page.locator("#path li").count()
        depth = len([segment for segment in self.parent.split("/") if segment]) + 2
        self.check("folders: a card opens its folder", crumbs == depth, name)
        page.go_back()
        gallery.wait("(hash) => location.hash === hash || hash === '#/'", folder_hash(self.parent))
        page.wait_for_selector("#cards a")
        gallery.wait("(offset) => Math.abs(scrollY - offset) < 2", before)
        self.check("folders: Back returns to the same scroll position", True, f"{before} px")
        page.goto(f"{self.server}/#/no/such/folder%3f/")
        page.wait_for_selector("#message:not([hidden])")
        message = page.inner_text("#message h2")
        self.check("folders: an error message names a missing folder", "Folder not found" in message, message)
        gallery.close()

    def test_phone(self):
        gallery = self.open(width=360, height=740, scale=3, is_mobile=True, has_touch=True)
        page = gallery.page
        self.check_tiles(gallery, "phone: each tile has its image at the step of the ladder")
        overflow = page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"]
        self.check("phone: no element is wider than the screen", overflow <= 0, f"{overflow} px")
        self.screenshot(gallery, "gallery-phone.png")
        positions = [t["position"] for t in gallery.tiles() if not t["failed"] and t["top"] > 60]
        first = next(p for p in positions if p not in self.listing["pictures"]["error"])
        gallery.tile_link(first).tap()
        self.wait_for_exact(gallery, self.names[first - 1])
        self.screenshot(gallery, "viewer-phone.png")
        outside = page.evaluate(
            """() => [...document.querySelectorAll("#viewer :is(a, button, img, span)")]
            .filter((part) => part.checkVisibility())
            .filter((part) => part.getBoundingClientRect().left < 0
                || part.getBoundingClientRect().right > innerWidth + 0.5)
            .map((part) => part.dataset.part)"""
        )
        self.check("phone: the viewer fits the screen", not outside, ", ".join(outside))
        touch = gallery.context.new_cdp_session(page)
        for kind, x in [
            ("touchStart", 300),
            ("touchMove", 200),
            ("touchMove", 100),
            ("touchEnd", None),
        ]:
            points = [] if x is None else [{"x": x, "y": 400}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        gallery.wait(
            "(name) => document.querySelector('[data-part=name]').textContent === name",
            self.names[first],
        )
        self.check("phone: a swipe shows the next image", True)
        # Right after a synthetic swipe a tap stops its momentum; a click does not.
        page.click("[data-part=close]")
        gallery.wait("!document.querySelector('dialog').open")
        self.check_quiet(gallery, "phone")
        gallery.close()

    def test_appearances(self):
        for scheme in ("light", "dark"):
            gallery = self.open(color_scheme=scheme)
            gallery.tiles()
            colors = gallery.page.evaluate("""() => ["background-color", "color"].map((property) =>
                getComputedStyle(document.documentElement).getPropertyValue(property)
                    .match(/\\d+/g).slice(0, 3).map(Number))
                .concat([getComputedStyle(document.querySelector("#summary")).color
                    .match(/\\d+/g).map(Number)])""")
            ground, text, quiet = (luminance(color) for color in colors)
            self.check(
                f"{scheme}: the background is {scheme}",
                ground > 0.8 if scheme == "light" else ground < 0.05,
            )
            worst = min(contrast(ground, text), contrast(ground, quiet))
            self.check(f"{scheme}: text has sufficient contrast", worst >= 4.5, f"{worst:.1f}")
            self.screenshot(gallery, f"gallery-{scheme}.png")
            self.check_quiet(gallery, scheme)
            gallery.close()
        gallery = self.open(reduced_motion="reduce")
        gallery.tiles()
        duration = gallery.page.evaluate(
            "getComputedStyle(document.querySelector('.tile.loaded img')).transitionDuration"
        )
        self.check("reduced motion: images do not fade in", duration == "0s", duration)
        asked = []
        gallery.page.on("request", lambda request: asked.append(unquote(request.url)))
        gallery.page.locator(".tile").first.click()
        gallery.wait("() => !document.querySelector('[data-part=exact]').hidden")
        sizes = [url for url in asked if re.search(r"/\d+x\d+", url)]
        self.check(
            "reduced motion: animations are still images in the viewer",
            bool(sizes) and all(",still/" in url for url in sizes),
            sizes,
        )
        gallery.close()


def luminance(color):
    """Returns the relative luminance of an sRGB colour (WCAG 2)."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (v / 255 for v in color)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)

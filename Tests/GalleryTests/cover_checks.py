# SPDX-License-Identifier: Apache-2.0
"""The covers of folders."""

import io
import statistics

from PIL import Image

from calotype_server import CheckedServer
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server
from small_photos import small_photos

FOLDERS = 200
MOST_MILLISECONDS = 400

# Fetches and decodes sheets of covers as the page does; returns the milliseconds.
LOAD = """async (urls) => {
  const start = performance.now();
  await Promise.all(urls.map((url) => Object.assign(new Image(), { src: url }).decode()));
  return performance.now() - start;
}"""

# The backgrounds of all covers.
COVERS = """() => [...document.querySelectorAll("#cards .cover")].map((cover) => {
  const { backgroundImage, backgroundPosition, backgroundSize } = getComputedStyle(cover);
  return { image: backgroundImage, place: backgroundPosition, size: backgroundSize };
})"""


class CoverChecks(GalleryChecks):
    def test_covers(self):
        with start_synthetic_server(count=100) as server:
            gallery = GalleryPage(self.browser, server)
            page = gallery.page
            asked = []
            page.on("request", lambda r: asked.append(r.url) if "/covers/" in r.url else None)
            gallery.open("tree")
            page.wait_for_selector("#cards.covers a")
            gallery.wait(f"() => ({COVERS})()[0].image !== 'none'")
            self.check("covers: one request for the first screen", len(asked) == 1, asked)
            page.click("#more-folders")
            cards = page.locator("#cards li")
            self.check("covers: all folders are shown", cards.count() == FOLDERS, f"{cards.count()}")
            for index in (69, 120, 199):
                cards.nth(index).scroll_into_view_if_needed()
                gallery.wait(f"(index) => ({COVERS})()[index].image !== 'none'", index)
            self.check(f"covers: at most 3 requests for {FOLDERS} folders", len(asked) <= 3, f"{len(asked)}")
            covers = page.evaluate(COVERS)
            # Folder 82 is the third of the second row of the second sheet, which has seven rows.
            place, size = covers[82]["place"], covers[82]["size"]
            expected = [2 / 9 * 100, 1 / 6 * 100]
            shown = [float(part.rstrip("%")) for part in place.split()]
            is_at = all(abs(one - other) < 0.01 for one, other in zip(shown, expected))
            self.check("covers: each folder has its cell", is_at and size == "calc(1000% + 10px) calc(700% + 7px)", f"{place} {size}")
            self.check_color(gallery, cards.nth(82), 12)
            self.check_color(gallery, cards.nth(199), 59)
            self.check_refresh(gallery)
            self.check_late(gallery)
            self.check_quiet(gallery, "covers")
            gallery.close()

    def test_server_covers(self, request, tmp_path):
        """The time of the covers of a folder whose covers the server has made before."""
        program = request.config.getoption("--calotype")
        if not program:
            self.skip("--calotype is required")
        photos = small_photos(4 * FOLDERS)
        for number, photo in enumerate(photos):
            folder = tmp_path / f"photos/folder {number // 4:03}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number % 4}.jpg").write_bytes(photo)
        with CheckedServer(program, tmp_path / "photos", tmp_path / "cache") as server:
            gallery = GalleryPage(self.browser, server.url)
            # Interception by the driver would take longer than the server.
            gallery.page.unroute_all()
            gallery.page.goto(f"{server.url}/#/")
            gallery.wait("async () => (await (await fetch('/-/library/status')).json()).state === 'complete'")
            # Now the covers are those of all images.
            gallery.page.reload()
            asked = self.ask_for_all(gallery)
            self.check(f"covers: {FOLDERS} folders of the server take at most 3 requests", len(asked) <= 3, f"{len(asked)}")
            gallery.close()
            times = []
            for _ in range(5):
                # Without the cache of a browser, which would only ask whether they have changed.
                gallery = GalleryPage(self.browser, server.url)
                gallery.page.unroute_all()
                gallery.page.goto(f"{server.url}/-/gallery/icon.svg")
                times.append(gallery.page.evaluate(LOAD, asked))
                gallery.close()
        self.check_time(
            f"covers: those of {FOLDERS} folders are shown within {MOST_MILLISECONDS} ms",
            statistics.median(times) <= MOST_MILLISECONDS,
            "again and again: " + ", ".join(f"{time:.0f}" for time in times) + " ms")

    def ask_for_all(self, gallery):
        """Shows the covers of all folders; returns the URLs of their sheets."""
        page = gallery.page
        asked = []
        page.on("request", lambda r: asked.append(r.url) if "/covers/" in r.url else None)
        gallery.wait(f"() => ({COVERS})()[0]?.image.includes('/covers/')")
        page.click("#more-folders")
        for index in (FOLDERS // 3, FOLDERS // 2, FOLDERS - 1):
            page.locator("#cards li").nth(index).scroll_into_view_if_needed()
            gallery.wait(f"(index) => ({COVERS})()[index].image !== 'none'", index)
        return asked

    def check_refresh(self, gallery):
        """After a change of the library, covers are replaced without a change of the focus."""
        page = gallery.page
        page.locator("#cards a").nth(3).focus()
        image = page.evaluate(COVERS)[3]["image"]
        page.evaluate("fetch('/-/test/add/2026-09-25/1').then(() => null)")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        gallery.wait(f"(image) => ({COVERS})()[3].image !== image", image)
        focused = page.evaluate("document.activeElement.querySelector('strong').textContent")
        self.check("covers: are replaced after a change, and the focus stays", focused == "folder 003", focused)

    def check_late(self, gallery):
        """The sheet of an earlier generation arrives after that of the current one."""
        page = gallery.page
        held = []
        page.route("**/covers/**", lambda r: r.continue_() if held else held.append(r))
        images = []
        for _ in range(2):
            images.append(page.evaluate(COVERS)[3]["image"])
            page.evaluate("fetch('/-/test/add/2026-09-25/1').then(() => null)")
            with page.expect_request("**/covers/**"):
                page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        gallery.wait(f"(image) => ({COVERS})()[3].image !== image", images[-1])
        image = page.evaluate(COVERS)[3]["image"]
        with page.expect_response(held[0].request.url):
            held[0].continue_()
        page.evaluate("(url) => { const image = new Image(); image.src = url; return image.decode(); }", held[0].request.url)
        gallery.next_frame()
        self.check("covers: a late sheet does not replace a newer one", page.evaluate(COVERS)[3]["image"] == image)

    def check_color(self, gallery, card, cell):
        """Compares the pixel in the middle of a cover with the colour of its cell."""
        card.scroll_into_view_if_needed()
        gallery.next_frame()
        box = card.locator(".cover").bounding_box()
        clip = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2, "width": 1, "height": 1}
        color = self.pixel(gallery.page.screenshot(clip=clip))
        expected = (60 + cell * 37 % 160, 60 + cell * 91 % 160, 60 + cell * 13 % 160)
        self.check(f"covers: cell {cell} is drawn", color == expected, f"{color}, expected {expected}")

    def pixel(self, png):
        return Image.open(io.BytesIO(png)).convert("RGB").getpixel((0, 0))

# SPDX-License-Identifier: Apache-2.0
"""The viewer, and navigation by keyboard."""

from gallery_checks import GalleryChecks
from gallery_driver import ladder_step


class ViewingChecks(GalleryChecks):
    """Opens images, moves to others, and returns."""

    def whole_tiles(self, gallery):
        """Returns the positions of the completely visible tiles that show an image."""
        return [
            tile["position"]
            for tile in gallery.tiles()
            if not tile["failed"] and tile["top"] >= 60 and tile["top"] + tile["height"] <= 890
        ]

    def test_viewing(self):
        gallery = self.open()
        page = gallery.page
        self.wait_for_listing(gallery)
        positions = self.whole_tiles(gallery)
        first = next(p for p in positions if p + 1 in positions)
        names = self.names
        gallery.tile_link(first).click()
        shown = self.wait_for_exact(gallery, names[first - 1])
        side = max(shown["width"], shown["height"])
        expected = ladder_step(self.listing["ladder"], side)
        asked = gallery.traffic.boxes[names[first - 1]]
        self.check(
            "viewer: requests exactly the step that it shows",
            asked[-1] == expected,
            f"{asked}, {expected}",
        )
        self.check(
            "viewer: the URL contains the name of the image",
            not page.evaluate("location.hash").endswith("/"),
        )
        position = page.inner_text("[data-part=position]")
        self.check(
            "viewer: shows the position", position == f"{first:,} / {self.total:,}", position
        )
        size = page.inner_text("[data-part=details]")
        pictures = self.listing["pictures"]
        expected = f"{pictures['width'][first - 1]} × {pictures['height'][first - 1]}"
        self.check("viewer: shows the pixel size", size.startswith(expected), size)
        href = page.get_attribute("[data-part=original]", "href")
        status = page.request.get(f"{self.server}{href}").status
        self.check("viewer: the original can be downloaded", status == 200, href)
        self.screenshot(gallery, "viewer.png")

        page.keyboard.press("ArrowRight")
        self.wait_for_exact(gallery, names[first])
        self.check("viewer: the right arrow shows the next image", True, names[first])
        for _ in range(9):
            page.keyboard.press("Tab")
        inside = page.evaluate("document.activeElement.matches('body, dialog *')")
        self.check("viewer: Tab stays in the dialog", inside)
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('dialog').open")
        gallery.wait("location.hash.endsWith('/')")
        # The close event of a dialog is asynchronous, and the focus returns after it.
        gallery.wait("document.activeElement.closest('.tile') !== null")
        focused = gallery.focused_position()
        self.check("viewer: Escape returns the focus to the tile", focused == first + 1, f"{focused}")

        gallery.tile_link(first).click()
        self.wait_for_exact(gallery, names[first - 1])
        page.keyboard.press("End")
        gallery.wait(
            "(p) => document.querySelector('[data-part=position]').textContent.startsWith(p)",
            f"{self.total:,} /",
        )
        page.go_back()
        gallery.wait("!document.querySelector('dialog').open")
        gallery.wait("document.activeElement.closest('.tile') !== null")
        focused = gallery.focused_position()
        self.check(
            "viewer: Back closes it, with the focus on the last image shown",
            focused == self.total,
            f"{focused}",
        )

        index = next(i for i in range(len(names)) if i not in pictures["error"])
        page.goto("about:blank")
        gallery.open(self.folder)
        gallery.tiles()
        link = gallery.tile_link(index + 1).get_attribute("href")
        page.goto("about:blank")
        page.goto(f"{self.server}/{link}")
        self.wait_for_exact(gallery, names[index])
        page.click("[data-part=close]")
        gallery.wait("!document.querySelector('dialog').open && location.hash.endsWith('/')")
        self.check(
            "viewer: the URL of an image opens it, and closing shows the folder", True, link
        )
        self.check_quiet(gallery, "viewer")
        gallery.close()

    def test_keyboard(self):
        gallery = self.open()
        page = gallery.page
        gallery.tiles()
        self.wait_for_listing(gallery)
        for _ in range(200):
            page.keyboard.press("Tab")
            if gallery.focused_position() is not None:
                break
        self.check("keyboard: Tab reaches the images", gallery.focused_position() == 1)
        stops = page.evaluate("document.querySelectorAll('.tile a[tabindex=\"0\"]').length")
        self.check("keyboard: the images are a single tab stop", stops == 1, f"{stops}")
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        self.check("keyboard: the focus is visible", ring != "none", ring)
        page.keyboard.press("ArrowRight")
        self.check("keyboard: right moves to the next image", gallery.focused_position() == 2)
        left = page.evaluate("document.activeElement.getBoundingClientRect().left")
        page.keyboard.press("ArrowDown")
        below = page.evaluate("document.activeElement.getBoundingClientRect().left")
        self.check(
            "keyboard: down moves to the image below",
            gallery.focused_position() > 2 and abs(below - left) < 400,
            f"{left:.0f} px, {below:.0f} px",
        )
        for _ in range(40):
            page.keyboard.press("ArrowDown")
        reached = gallery.focused_position()
        visible = page.evaluate("""() => {
            const { top, bottom } = document.activeElement.getBoundingClientRect();
            return top >= document.querySelector("#bar").offsetHeight && bottom <= innerHeight;
        }""")
        self.check(
            "keyboard: down continues across rows without tiles",
            reached and reached > min(60, self.total - 12) and visible,
            f"image {reached}",
        )
        page.keyboard.press("End")
        self.check(
            "keyboard: End moves to the last image", gallery.focused_position() == self.total
        )
        page.keyboard.press("Home")
        self.check("keyboard: Home moves to the first image", gallery.focused_position() == 1)
        page.keyboard.press("Enter")
        gallery.wait("document.querySelector('dialog').open")
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('dialog').open")
        self.check("keyboard: Enter opens and Escape returns", gallery.focused_position() == 1)
        self.check_quiet(gallery, "keyboard")
        gallery.close()

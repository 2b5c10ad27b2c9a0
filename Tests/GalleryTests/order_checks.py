# SPDX-License-Identifier: Apache-2.0
"""The sort orders, and the scrubber, which scrolls to any position."""

import datetime

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, fetch_listing, start_synthetic_server

COUNT = 12_000


class OrderChecks(GalleryChecks):
    def test_orders(self):
        with start_synthetic_server(count=COUNT) as server:
            listing = fetch_listing(server, "many")["pictures"]
            newest = sorted(range(COUNT), key=lambda i: (-listing["modified"][i], i))
            gallery = GalleryPage(self.browser, server)
            gallery.open("many")
            gallery.tiles()
            self.wait_for_pages(gallery)
            self.check_letters(gallery)
            gallery.page.select_option("#sort select", "newest")
            self.check_order(gallery, listing, newest)
            self.check_months(gallery, listing, newest)
            self.check_slider_keys(gallery)
            gallery.page.reload()
            self.wait_for_pages(gallery)
            first = gallery.tiles()[0]["name"]
            self.check(
                "order: the choice is stored", first == listing["name"][newest[0]], first
            )
            self.check_quiet(gallery, "order")
            gallery.close()
            self.check_finger(server)

    def wait_for_pages(self, gallery):
        """Waits until every page of the listing is laid out."""
        gallery.wait(
            """async (count) => {
            const tile = document.querySelector(".tile");
            if (tile === null) return false;
            const last = document.documentElement.scrollHeight;
            await new Promise((done) => setTimeout(done, 100));
            return last === document.documentElement.scrollHeight && last > count * 20;
        }""",
            COUNT,
        )

    def check_order(self, gallery, listing, newest):
        shown = gallery.tiles()
        names = [tile["name"] for tile in shown]
        expected = [listing["name"][newest[tile["position"] - 1]] for tile in shown]
        self.check("order: newest first", names == expected, names[0])
        gallery.tile_link(2).click()
        self.wait_for_exact(gallery, listing["name"][newest[1]])
        gallery.page.keyboard.press("ArrowRight")
        self.wait_for_exact(gallery, listing["name"][newest[2]])
        self.check("order: the viewer uses the same order", True)
        gallery.page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('dialog').open")

    def label(self, gallery):
        return gallery.page.inner_text("#scrubber .label")

    def first_below_bar(self, gallery):
        """Returns the position of the topmost visible image."""
        bar = gallery.page.evaluate("document.querySelector('#bar').offsetHeight")
        tiles = [t for t in gallery.tiles() if t["top"] + t["height"] > bar + 2]
        return min(tile["position"] for tile in tiles)

    def check_letters(self, gallery):
        marks = gallery.page.evaluate(
            "Array.from(document.querySelectorAll('#scrubber .marks span'), (m) => m.textContent)"
        )
        self.check(
            "scrubber: marks show letters in order",
            len(marks) > 20 and marks == sorted(set(marks)),
            "".join(marks),
        )
        box = gallery.page.locator("#scrubber").bounding_box()
        gallery.page.mouse.move(box["x"] + 30, box["y"] + box["height"] / 2)
        self.check("scrubber: the pointer at the middle shows a letter of the middle", self.label(gallery) in "LMN")

    def check_months(self, gallery, listing, newest):
        box = gallery.page.locator("#scrubber").bounding_box()
        page = gallery.page
        page.mouse.move(box["x"] + 30, box["y"] + 40)
        page.mouse.down()
        for share in (0.2, 0.35, 0.5):
            page.mouse.move(box["x"] + 20, box["y"] + box["height"] * share)
        gallery.next_frame()
        dragged = self.label(gallery)
        place = page.evaluate(
            "scrollY / (document.documentElement.scrollHeight - innerHeight)"
        )
        page.mouse.up()
        self.check("scrubber: dragging scrolls proportionally", abs(place - 0.5) < 0.05, f"{place}")
        position = self.first_below_bar(gallery)
        taken = datetime.datetime.fromtimestamp(listing["modified"][newest[position - 1]])
        self.check(
            "scrubber: shows the month of the topmost image",
            dragged == f"{taken:%B %Y}",
            f"{dragged}, image {position}",
        )

    def check_slider_keys(self, gallery):
        page = gallery.page
        slider = page.locator("#scrubber")
        slider.focus()
        page.keyboard.press("End")
        gallery.wait(
            "(total) => document.querySelector('.tile:last-child').ariaPosInSet == total", COUNT
        )
        texts = [slider.get_attribute("aria-valuetext")]
        page.keyboard.press("PageUp")
        gallery.next_frame()
        texts.append(slider.get_attribute("aria-valuetext"))
        page.keyboard.press("ArrowUp")
        gallery.next_frame()
        texts.append(slider.get_attribute("aria-valuetext"))
        values = [text.split()[1] for text in texts]
        self.check(
            "scrubber: End, Page Up and Arrow Up move back in time in steps",
            texts[0] != texts[1] != texts[2] and values[0] <= values[1] <= values[2],
            "; ".join(texts),
        )
        page.keyboard.press("Home")
        gallery.wait("scrollY === 0")
        self.check("scrubber: Home scrolls to the top", True)

    def check_finger(self, server):
        """On a phone the handle appears during scrolling, and can be dragged by touch."""
        gallery = GalleryPage(
            self.browser, server, width=360, height=740, scale=2, is_mobile=True, has_touch=True
        )
        page = gallery.page
        gallery.open("many")
        self.wait_for_pages(gallery)
        page.evaluate("scrollTo({ top: 9000, behavior: 'instant' })")
        gallery.wait("document.querySelector('#scrubber').classList.contains('scrolling')")
        handle = page.locator("#scrubber .handle").bounding_box()
        x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
        touch = gallery.context.new_cdp_session(page)
        for kind, place in (("Start", y), ("Move", y + 100), ("Move", 396), ("End", None)):
            points = [] if place is None else [{"x": x, "y": place}]
            touch.send(
                "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
            )
        place = page.evaluate("scrollY / (document.documentElement.scrollHeight - innerHeight)")
        self.check("scrubber: dragging by touch scrolls proportionally", abs(place - 0.5) < 0.05, f"{place:.3f}")
        gallery.tiles()
        self.check_quiet(gallery, "scrubber on a phone")
        gallery.close()

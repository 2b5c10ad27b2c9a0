# SPDX-License-Identifier: Apache-2.0
"""The page on a phone, with fingers only; and the list of scenarios in README.md."""

import pathlib
import re

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

COUNT, DAYS = 200, 20
LEAST_SCENARIOS = 40


class TouchChecks(GalleryChecks):
    def test_touch(self):
        with start_synthetic_server(count=COUNT, days=DAYS) as server:
            gallery = GalleryPage(
                self.browser, server, width=360, height=740, scale=2, is_mobile=True, has_touch=True)
            gallery.page.route("**/info/**", lambda route: route.fulfill(json={}))
            gallery.page.goto(f"{server}/#all")
            gallery.tiles()
            gallery.wait("document.documentElement.classList.contains('can-mark')")
            self.check_day(gallery)
            self.check_marks(gallery)
            self.check_slideshow(gallery)
            self.check_search(gallery)
            self.check_views(gallery)
            self.check_quiet(gallery, "touch")
            gallery.close()

    def test_scenarios(self):
        """Each scenario of the list names a check that exists."""
        folder = pathlib.Path(__file__).parent
        code = "\n".join(file.read_text() for file in sorted(folder.glob("*_checks.py")))
        rows = re.findall(r"^\| (\d+) \| (mouse|keyboard|touch) \| .+ \| `(.+)` \|$", (folder / "README.md").read_text(), re.M)
        numbers = [int(number) for number, _, _ in rows]
        missing = [name for _, _, name in rows if f'"{name}"' not in code]
        self.check("scenarios: each names a check", not missing, missing)
        self.check("scenarios: are numbered", numbers == list(range(1, len(rows) + 1)), len(rows))
        self.check("scenarios: are enough", len(rows) >= LEAST_SCENARIOS, len(rows))
        kinds = {kind: sum(other == kind for _, other, _ in rows) for kind in ("mouse", "keyboard", "touch")}
        self.check("scenarios: each kind of input has ten", min(kinds.values()) >= 10, kinds)

    def check_day(self, gallery):
        page = gallery.page
        # A day has its mark once something is selected, since a finger does not hover.
        touch = gallery.context.new_cdp_session(page)
        box = gallery.tile_link(1).bounding_box()
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_selector("#selection:not([hidden])")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        check = page.locator(".day .check").first
        check.tap()
        gallery.wait("document.querySelector('.day .check').ariaPressed === 'true'")
        self.check("touch: a tap on the mark of a day selects it", True)
        page.tap("#selection .rating button >> nth=2")
        page.wait_for_selector(".tile[aria-posinset='1'][data-stars]")
        stars = page.get_attribute(".tile[aria-posinset='1']", "data-stars")
        self.check("touch: a tap on a star rates the selection", stars == "★★★", stars)
        page.tap("#selection [data-part=clear]")
        page.wait_for_selector("#selection", state="hidden")
        self.check("touch: a tap clears the selection", True)

    def check_marks(self, gallery):
        page = gallery.page
        gallery.tile_link(2).tap()
        page.wait_for_selector("#viewer[open]")
        page.tap("#viewer [data-part=favourite]")
        gallery.wait("document.querySelector('#viewer [data-part=favourite]').ariaPressed === 'true'")
        self.check("touch: a tap on the heart marks the image", True)
        page.tap("#viewer [data-part=info]")
        page.wait_for_selector("#facts:not([hidden])")
        self.check("touch: a tap shows the information", True)
        page.tap("#viewer [data-part=info]")
        page.wait_for_selector("#facts", state="hidden")

    def check_slideshow(self, gallery):
        page = gallery.page
        page.tap("#viewer [data-part=slideshow]")
        page.wait_for_selector("#slideshow[open] img")
        page.tap("#slideshow [data-part=screen]")
        page.tap("#slideshow [data-part=pause]")
        gallery.wait("document.querySelector('#slideshow').classList.contains('paused')")
        self.check("touch: a tap shows the controls of the slideshow, another one pauses it", True)
        page.tap("#slideshow [data-part=close]")
        gallery.wait("!document.querySelector('#slideshow').open")
        page.tap("#viewer [data-part=close]")
        gallery.wait("location.hash === '#all' && !document.querySelector('#viewer').open")

    def check_search(self, gallery):
        page = gallery.page
        page.tap("#search input")
        page.keyboard.type("can")
        page.wait_for_selector("#completions li")
        page.locator("#completions li").first.tap()
        gallery.wait("document.querySelector('#search input').value.startsWith('camera:')")
        self.check("touch: a tap selects a completion", True)
        page.tap("#search button")
        gallery.wait("document.querySelector('#search input').value === ''")
        self.check("touch: a tap clears the search", True)
        gallery.wait("location.hash === '#all'")

    def check_views(self, gallery):
        page = gallery.page
        # The field of the search covers the bar while it has the focus.
        page.tap("#title")
        page.tap("#views a[href='#/']")
        page.wait_for_selector("#cards a")
        page.locator("#cards a").filter(has_text="many").tap()
        gallery.wait("location.hash === '#/many/'")
        gallery.tiles()
        self.check("touch: a tap on a card opens its folder", page.inner_text("#title") == "many")
        before = page.evaluate("document.querySelector('.tile').getBoundingClientRect().height")
        page.locator("#density label").nth(2).tap()
        gallery.wait("(before) => document.querySelector('.tile').getBoundingClientRect().height > before", before)
        self.check("touch: a tap changes the size of the images", True)

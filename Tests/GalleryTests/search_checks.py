# SPDX-License-Identifier: Apache-2.0
"""The search: results as the user types, completions, shareable URLs."""

import json
import urllib.request

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

COUNT = 12_000
FIELD = "#search input"


class SearchChecks(GalleryChecks):
    def test_search(self):
        with start_synthetic_server(count=COUNT) as server:
            self.check_typing(server)
            self.check_completions(server)
            self.check_stale(server)
            self.check_failure(server)
            self.check_phone(server)

    def open_timeline(self, server, address="#all", **options):
        gallery = GalleryPage(self.browser, server, **options)
        gallery.page.goto(f"{server}/{address}")
        gallery.wait("document.querySelector('#summary').textContent !== ''")
        return gallery

    def check_typing(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        gallery.tiles()
        entries = page.evaluate("history.length")
        page.keyboard.press("/")
        for letter in "C-0001":
            page.keyboard.type(letter)
            gallery.next_frame()
        gallery.wait("document.querySelector('#summary').textContent.includes('“C-0001”')")
        names = [tile["name"] for tile in gallery.tiles()]
        self.check(
            "search: all results match", all(name.startswith("C-0001") for name in names), names[:2]
        )
        with urllib.request.urlopen(f"{server}/-/library/timeline?q=C-0001") as response:
            total = json.load(response)["total"]
        summary = page.inner_text("#summary")
        self.check("search: the number of results is shown", f"{total} images" in summary, summary)
        self.check("search: typing adds one history entry", page.evaluate("history.length") == entries + 1)
        address = page.url
        self.check("search: the URL contains the query", address.endswith("#all?q=C-0001"), address)
        page.keyboard.type("zz")
        page.wait_for_selector("#message:not([hidden])")
        message = page.inner_text("#message")
        self.check("search: an empty result names the query", "C-0001zz" in message, message.split("\n")[0])
        page.keyboard.press("Escape")
        gallery.wait("location.hash === '#all'")
        self.check("search: Escape clears it", page.input_value(FIELD) == "")
        page.goto("about:blank")
        page.goto(address)
        gallery.wait("document.querySelector('#summary').textContent.includes('“C-0001”')")
        self.check("search: the URL opens the results", page.input_value(FIELD) == "C-0001")
        gallery.tile_link(2).click()
        gallery.wait("location.hash.endsWith('?q=C-0001') && document.querySelector('#viewer').open")
        position = page.inner_text("[data-part=position]")
        self.check("search: the viewer shows the results only", position == f"2 / {total}", position)
        self.check_quiet(gallery, "search")
        gallery.close()

    def check_completions(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        page.click(FIELD)
        page.keyboard.type("2024 can")
        page.wait_for_selector("#completions li")
        labels = page.locator("#completions strong").all_inner_texts()
        self.check("completions: match the last word", labels == ["Canon EOS 5D", "Canon EOS R6"], labels)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        active = page.get_attribute(FIELD, "aria-activedescendant")
        selected = page.locator("#completions [aria-selected=true]").get_attribute("id")
        self.check("completions: arrow keys select one", active == selected == "completion-1", active)
        page.keyboard.press("Enter")
        value = page.input_value(FIELD)
        self.check("completions: Enter replaces the last word", value == '2024 camera:"Canon EOS R6" ', value)
        gallery.wait("document.querySelector('#completions').hidden")
        page.fill(FIELD, "ni")
        page.wait_for_selector("#completions li")
        page.click("#completions li")
        value = page.input_value(FIELD)
        self.check("completions: a click selects one", value == 'camera:"Nikon Z 6" ', value)
        self.check_quiet(gallery, "completions")
        gallery.close()

    def check_stale(self, server):
        """The answer for an earlier query arrives after that for the last one."""
        gallery = self.open_timeline(server)
        page = gallery.page
        held = []
        page.route("**/timeline?q=B", lambda route: held.append(route))
        page.click(FIELD)
        page.keyboard.type("B")
        while not held:
            gallery.next_frame()
        page.keyboard.type("-00")
        gallery.wait("document.querySelector('#summary').textContent.includes('“B-00”')")
        for route in held:
            route.fulfill(
                json={"generation": "1", "total": 0, "days": {"date": [], "count": []}, "aspects": ""}
            )
        names = [tile["name"] for tile in gallery.tiles()]
        self.check("search: a late answer is dropped", names and all(n.startswith("B-00") for n in names))
        gallery.close()

    def check_failure(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        page.route("**/timeline?q=*", lambda r: r.fulfill(status=400, json={"error": "too long"}))
        page.fill(FIELD, "x")
        page.wait_for_selector("#message:not([hidden])")
        message = page.inner_text("#message")
        tiles = gallery.tile_count()
        self.check("search: an error replaces the results", "too long" in message and tiles == 0, message)
        gallery.close()

    def check_phone(self, server):
        gallery = self.open_timeline(
            server, width=360, height=740, scale=2, is_mobile=True, has_touch=True
        )
        page = gallery.page
        gallery.tiles()
        overflow = page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"]
        self.check("phone: the bar of the library fits the screen", overflow <= 0, f"{overflow} px")
        page.tap(FIELD)
        width = page.locator(FIELD).bounding_box()["width"]
        self.check("phone: the search has the width of the screen", width > 220, f"{width:.0f} px")
        page.keyboard.type("D-0")
        gallery.wait("document.querySelector('#summary').textContent.includes('“D-0”')")
        gallery.tiles()
        self.screenshot(gallery, "search-phone.png")
        self.check_quiet(gallery, "search on a phone")
        gallery.close()

# SPDX-License-Identifier: Apache-2.0
"""Changing folders, fast scrolling and failing servers."""

import json

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage


class TroubleChecks(GalleryChecks):
    """Intercepts responses between the server and the page."""

    def test_changes(self):
        """Checks that a new photograph does not move the visible tiles."""
        if self.total < 60:
            return self.skip("needs a folder with 60 images")
        gallery = GalleryPage(self.browser, self.server)
        lacks_first = True

        def respond(route):
            if not lacks_first or "offset=0" not in route.request.url:
                return route.continue_()
            response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
            page = response.json()
            page["revision"] += "-before"
            page["next"] = None
            for column in ("name", "width", "height", "modified", "version"):
                page["pictures"][column] = page["pictures"][column][1:200]
            page["pictures"]["error"] = {}
            page["total"] = len(page["pictures"]["name"])
            return route.fulfill(status=200, body=json.dumps(page), content_type="application/json")

        gallery.page.route("**/-/listing/**", respond)
        gallery.open(self.folder)
        gallery.tiles()
        gallery.page.evaluate("scrollTo({ top: 1000, behavior: 'instant' })")
        before = {tile["name"]: tile["top"] for tile in gallery.tiles()}
        focused = sorted(before)[len(before) // 2]
        gallery.page.locator(f".tile a[data-name={json.dumps(focused)}]").focus()
        lacks_first = False
        gallery.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        gallery.wait("(total) => document.querySelector('.tile').ariaSetSize == total", self.total)
        after = {tile["name"]: tile["top"] for tile in gallery.tiles()}
        kept = [name for name in before if name in after and abs(after[name] - before[name]) < 1]
        self.check(
            "changes: a new photograph appears and the scroll position is kept",
            len(kept) > 0,
            f"{len(kept)} tiles stayed",
        )
        still = gallery.page.evaluate("document.activeElement.dataset.name")
        self.check("changes: the focus stays on its image", still == focused, f"{still}")
        positions = gallery.page.evaluate(
            "[...document.querySelectorAll('.tile')].map((t) => t.ariaPosInSet - 0)"
        )
        self.check("changes: tiles stay in order", positions == sorted(positions))
        gallery.close()

    def test_giving_up(self):
        """Checks that requests of tiles that left the screen are aborted."""
        if self.total < 400:
            return self.skip("needs a folder with 400 images")
        gallery = GalleryPage(self.browser, self.server)
        held = []
        is_slow = True
        gallery.page.route(
            "**/*x*/**", lambda route: held.append(route) if is_slow else route.continue_()
        )
        gallery.open(self.folder)
        gallery.wait("document.querySelectorAll('.tile').length > 10")
        while len(gallery.traffic.in_flight) < 6:
            gallery.next_frame()
        waiting = {request.url for request in gallery.traffic.in_flight}
        is_slow = False
        gallery.page.evaluate("scrollTo({ top: innerHeight * 8, behavior: 'instant' })")
        gallery.tiles()
        given_up = waiting & set(gallery.traffic.aborted)
        self.check(
            "giving up: requests of tiles that left the screen are aborted",
            given_up == waiting,
            f"{len(given_up)} of {len(waiting)}",
        )
        for route in held:
            route.abort()
        gallery.close()

    def test_troubles(self):
        """Checks the messages for a damaged image, a busy server and an unreachable server."""
        gallery = GalleryPage(self.browser, self.server)
        refused, busy = [], []

        def respond(route):
            url = route.request.url
            if not refused or url in refused:
                refused.append(url)
                return route.fulfill(
                    status=422, body='{"error": "made to fail"}', content_type="application/json"
                )
            if not busy:
                busy.append(url)
                return route.fulfill(status=503, body="{}", headers={"Retry-After": "1"})
            return route.continue_()

        gallery.page.route("**/*x*/**", respond)
        gallery.open(self.folder)
        tiles = gallery.tiles()
        failed = [tile for tile in tiles if "made to fail" in tile["text"]]
        named = len(failed) == 1 and failed[0]["name"] in failed[0]["text"]
        self.check(
            "troubles: the tile of a damaged image shows name and reason",
            named,
            failed[0]["text"].replace("\n", ", ") if failed else "",
        )
        self.check("troubles: a request to a busy server is repeated", len(busy) == 1 and len(failed) == 1)

        gallery.context.set_offline(True)
        gallery.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        gallery.page.wait_for_selector("#banner:not([hidden])")
        self.check(
            "troubles: a banner reports an unreachable server", True, gallery.page.inner_text("#banner")
        )
        gallery.page.evaluate("scrollBy({ top: innerHeight * 3, behavior: 'instant' })")
        gallery.context.set_offline(False)
        gallery.page.wait_for_selector("#banner", state="hidden")
        gallery.tiles()
        self.check("troubles: the page continues when the server is reachable again", True)
        gallery.close()

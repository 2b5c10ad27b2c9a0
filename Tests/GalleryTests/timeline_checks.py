# SPDX-License-Identifier: Apache-2.0
"""The timeline of the whole library: days, details near the window, changes, the viewer."""

import json
import urllib.request
from urllib.parse import parse_qs

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

COUNT = 20_000

# The days on the screen, with the top of each.
DAYS = """() => [...document.querySelectorAll(".day")].map((day) =>
  [day.querySelector("h2").textContent, day.getBoundingClientRect().top])
  .filter(([, top]) => top > 0 && top < innerHeight)"""


def fetch(server, path):
    with urllib.request.urlopen(f"{server}{path}") as response:
        return json.load(response)


class TimelineChecks(GalleryChecks):
    def test_timeline(self):
        with start_synthetic_server(count=COUNT) as server:
            self.check_views(server)
            self.check_early_requests(server)
            self.check_newest(server)
            self.check_days(server)
            self.check_requests(server)
            self.check_scrubber(server)
            self.check_viewer(server)
            self.check_progress(server)
            self.check_changes(server)

    def timeline(self, server, address="#all", **options):
        gallery = GalleryPage(self.browser, server, **options)
        gallery.page.goto(f"{server}/{address}")
        gallery.tiles()
        return gallery

    def check_views(self, server):
        gallery = self.timeline(server, "")
        page = gallery.page
        hash = page.evaluate("location.hash")
        self.check("timeline: is the first view if the root has no images", hash == "#all", hash)
        page.click("#views a[href='#/']")
        page.wait_for_selector("#cards a")
        self.check("timeline: the folders are a second view", page.inner_text("#title") == "Images")
        page.go_back()
        gallery.tiles()
        current = page.inner_text("#views [aria-current]")
        self.check("timeline: Back returns to it", current == "All photos", current)
        self.check_quiet(gallery, "views of the library")
        gallery.close()

    def check_early_requests(self, server):
        """The first requests do not wait for the modules, which send none of them again; the days wait for an image."""
        gallery = GalleryPage(self.browser, server)
        first = ["status", "images?offset=0&limit=250"]
        sent, held = [], []
        gallery.page.on("request", lambda r: sent.append(r.url.removeprefix(f"{server}/-/library/")))
        gallery.page.route("**/gallery.js", lambda route: held.append(route))
        gallery.page.goto(f"{server}/#all", wait_until="commit")
        while not held or not set(first) <= set(sent):
            gallery.next_frame()
        early = list(sent)
        held[0].continue_()
        gallery.tiles()
        counts = {url: sent.count(url) for url in [*first, "timeline?"]}
        # Each second after the days, the page asks for changes; the last images can take longer.
        counts["status"] = sent[:sent.index("timeline?")].count("status")
        self.check(
            "timeline: its first requests are sent once, before the modules run",
            set(counts.values()) == {1} and "timeline?" not in early, counts)
        images = [number for number, url in enumerate(sent) if "?v=" in url]
        self.check(
            "timeline: the days are requested after the first images", min(images) < sent.index("timeline?"))
        self.check_quiet(gallery, "early requests")
        gallery.close()

    def check_newest(self, server):
        gallery = GalleryPage(self.browser, server)
        held = []
        gallery.page.route("**/library/timeline?*", lambda route: held.append(route))
        gallery.page.goto(f"{server}/#all")
        gallery.wait("document.querySelectorAll('.tile.loaded').length > 0")
        while not held:
            gallery.next_frame()
        newest = gallery.visible_tiles()
        for route in held:
            route.continue_()
        tiles = gallery.tiles()
        place = lambda tile: [tile[key] for key in ("name", "left", "top", "width", "height")]
        self.check(
            "timeline: the newest images are shown before it has arrived, at their places",
            newest and [place(tile) for tile in newest] == [place(tile) for tile in tiles], len(newest))
        self.check_quiet(gallery, "newest images")
        gallery.close()

    def check_days(self, server):
        gallery = self.timeline(server)
        days = fetch(server, "/-/library/timeline")["days"]
        texts = gallery.page.evaluate(
            """(dates) => dates.map((date) => new Intl.DateTimeFormat("en", { weekday: "short",
            day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(date)))""",
            days["date"][:20],
        )
        shown = [text for text, _ in gallery.page.evaluate(DAYS)]
        self.check("timeline: headings are the days, newest first", shown == texts[: len(shown)], shown[:2])
        expected = fetch(
            server,
            f"/-/library/images?first={days['date'][0]}&last={days['date'][9]}&offset=0&limit=500",
        )["pictures"]
        wrong = [
            tile["name"]
            for tile in gallery.tiles()
            if tile["name"] != expected["name"][tile["position"] - 1]
        ]
        self.check("timeline: each tile is the image of the server at its position", not wrong, wrong[:3])
        cut = [
            tile["name"]
            for tile in gallery.tiles()
            if abs(tile["width"] / tile["height"] / (tile["naturalWidth"] / tile["naturalHeight"]) - 1) > 0.03
        ]
        self.check("timeline: tiles have the aspect ratios of their images", not cut, cut[:3])
        gallery.close()

    def check_requests(self, server):
        """Properties are requested near the window only, and not for images that were passed."""
        gallery = self.timeline(server)
        asked, aborted = [], []
        gallery.page.on("request", lambda r: asked.append(r.url) if "/images?" in r.url else None)
        gallery.page.on("requestfailed", lambda r: aborted.append(r.url) if "/images?" in r.url else None)
        held = []
        is_slow = True
        gallery.page.route(
            "**/library/images?*", lambda route: held.append(route) if is_slow else route.continue_()
        )
        gallery.page.evaluate("scrollTo({ top: 60000, behavior: 'instant' })")
        while not asked:
            gallery.next_frame()
        is_slow = False
        passed = list(asked)
        gallery.page.evaluate("scrollTo({ top: 200000, behavior: 'instant' })")
        gallery.tiles()
        self.check("timeline: requests for passed images are aborted", set(passed) == set(aborted), f"{len(passed)}")
        most = max(int(parse_qs(url.split("?")[1])["limit"][0]) for url in asked)
        self.check("timeline: a request is for at most 500 images", most <= 500, f"{most}")
        self.check("timeline: a jump sends few requests", len(asked) - len(passed) <= 2, f"{len(asked)}")
        self.check_passing_tiles(gallery, "timeline", 300_000)
        gallery.close()

    def check_scrubber(self, server):
        gallery = self.timeline(server)
        page = gallery.page
        marks = page.evaluate(
            "[...document.querySelectorAll('#scrubber .marks span:not(.minor)')].map((m) => m.textContent)"
        )
        self.check("timeline: the scrubber has the years", marks == [f"{y}" for y in range(2026, 2015, -1)], marks)
        box = page.locator("#scrubber").bounding_box()
        page.mouse.move(box["x"] + 30, box["y"] + box["height"] * 0.5)
        label = page.inner_text("#scrubber .label")
        page.mouse.down()
        page.mouse.up()
        gallery.tiles()
        first = page.evaluate(DAYS)[0][0]
        month, year = label.split()
        self.check("timeline: a click on the scrubber shows its month", month in first and year in first, f"{label}: {first}")
        page.locator("#scrubber").focus()
        page.keyboard.press("PageDown")
        gallery.tiles()
        text = page.locator("#scrubber").get_attribute("aria-valuetext")
        bar = page.evaluate("document.querySelector('#bar').offsetHeight")
        top = next(top for _, top in page.evaluate(DAYS) if top > bar - 2)
        self.check(
            "timeline: Page Down shows the heading of the next month",
            not text.startswith(label) and abs(top - bar) < 2,
            f"{text}, heading at {top:.0f}",
        )
        self.check_quiet(gallery, "timeline")
        gallery.close()

    def check_viewer(self, server):
        gallery = self.timeline(server)
        page = gallery.page
        page.route("**/info/**", lambda r: r.fulfill(json={}))
        days = fetch(server, "/-/library/timeline")["days"]
        last = days["count"][0]
        gallery.tile_link(last).click()
        gallery.wait("document.querySelector('dialog').open")
        page.keyboard.press("ArrowRight")
        second = days["date"][1]
        gallery.wait("(date) => location.hash.startsWith(`#all/${date}/`)", second)
        self.check("timeline: the viewer continues on the next day", True, second)
        address = page.url
        folder = page.inner_text("[data-part=folder]")
        self.check("timeline: the viewer shows the folder", folder == "many", folder)
        name = page.inner_text("[data-part=name]")
        page.keyboard.press("i")
        facts = page.inner_text("#facts dl")
        self.check("timeline: the information contains the date", "Taken" in facts)
        page.goto("about:blank")
        page.goto(address)
        self.wait_for_exact(gallery, name)
        self.check("timeline: the URL of an image opens it", True, name)
        page.goto("about:blank")
        page.route(f"**/images?first={second}*", lambda r: r.fulfill(status=503, json={"error": "busy"}), times=1)
        page.goto(address)
        self.wait_for_exact(gallery, name)
        self.check("timeline: an image is located again after an error", True)
        gallery.traffic.troubles = [t for t in gallery.traffic.troubles if "503" not in t]
        page.keyboard.press("End")
        gallery.wait("document.querySelector('[data-part=position]').textContent.startsWith('20,000')")
        self.check("timeline: End shows the oldest image", True)
        page.keyboard.press("Home")
        gallery.wait("document.querySelector('[data-part=position]').textContent.startsWith('1 /')")
        page.click("[data-part=folder]")
        gallery.wait("location.hash === '#/many/' && document.querySelector('.tile') !== null")
        gallery.wait("!document.querySelector('#viewer').open")
        self.check("timeline: the folder of an image can be opened", True)
        self.check_quiet(gallery, "viewer of the timeline")
        gallery.close()

    def check_progress(self, server):
        gallery = self.timeline(server)
        fetch(server, "/-/test/reading/12340/50000/40")
        gallery.page.wait_for_selector("#progress:not([hidden])")
        text = gallery.page.inner_text("#progress")
        self.check("timeline: shows the progress of the index", text == "12,340 of 50,000 read, 40 s left", text)
        fetch(server, "/-/test/complete")
        gallery.page.wait_for_selector("#progress", state="hidden")
        self.check("timeline: the progress disappears at the end", True)
        gallery.close()

    def check_changes(self, server):
        """New images in a newer day, in a visible day, and a removed day: what is visible stays."""
        gallery = self.timeline(server)
        page = gallery.page
        page.evaluate("scrollTo({ top: 5000, behavior: 'instant' })")
        for what, change, more in (
            ("newer images", "add/2026-09-25/40", 40),
            ("images of a visible day", None, 2),
            ("a removed day", "remove/2026-09-25", -40),
        ):
            before = {tile["name"]: tile["top"] for tile in gallery.tiles()}
            total = page.evaluate("document.querySelector('.tile').ariaSetSize - 0")
            # The second visible day; that of the topmost row is kept by its first image.
            day = fetch(server, "/-/library/timeline")["days"]["date"]
            visible = page.evaluate("() => location.hash") and self.visible_date(gallery, day)
            fetch(server, f"/-/test/{change or f'add/{visible}/2'}")
            gallery.wait("(total) => document.querySelector('.tile').ariaSetSize == total", total + more)
            after = {tile["name"]: tile["top"] for tile in gallery.tiles()}
            kept = [name for name in before if name in after and abs(after[name] - before[name]) < 1]
            self.check(f"timeline: {what} do not move what is visible", len(kept) > 0, f"{len(kept)} of {len(before)}")
            positions = page.evaluate("[...document.querySelectorAll('.tile')].map((t) => t.ariaPosInSet - 0)")
            self.check(f"timeline: tiles are in order after {what}", positions == sorted(positions))
        self.check_quiet(gallery, "changes of the timeline")
        gallery.close()

    def visible_date(self, gallery, dates):
        """Returns the date of the second heading on the screen."""
        text = gallery.page.evaluate(DAYS)[1][0]
        return gallery.page.evaluate(
            """async ([dates, text]) => {
            const { dayText } = await import("/-/gallery/text.js");
            return dates.find((date) => dayText(date) === text);
        }""",
            [dates, text],
        )

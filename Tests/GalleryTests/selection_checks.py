# SPDX-License-Identifier: Apache-2.0
"""The selection by mouse, keyboard and touch, and what can be done with it."""

import io
import json
import urllib.request
import zipfile

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

COUNT, DAYS = 3000, 200

SELECTED = """() => [...document.querySelectorAll(".tile.selected")].map((t) => t.ariaPosInSet - 0)"""


class SelectionChecks(GalleryChecks):
    def test_selection(self):
        with start_synthetic_server(count=COUNT, days=DAYS) as server:
            self.check_mouse(server)
            self.check_keyboard(server)
            self.check_touch(server)
            self.check_days(server)
            self.check_actions(server)
            self.check_favourites(server)
            self.check_ratings(server)
            self.check_other_page(server)
            self.check_changes(server)

    def open_timeline(self, server, **options):
        gallery = GalleryPage(self.browser, server, **options)
        gallery.page.goto(f"{server}/#all")
        gallery.tiles()
        gallery.wait("document.documentElement.classList.contains('has-library')")
        return gallery

    def count(self, gallery):
        return gallery.page.inner_text("#selection [data-part=count]")

    def wait_for_count(self, gallery, count):
        gallery.wait(
            "(text) => document.querySelector('#selection [data-part=count]').textContent === text",
            f"{count:,} selected",
        )

    def check_mark(self, gallery, position):
        gallery.tile_link(position).hover()
        return gallery.page.locator(f".tile[aria-posinset='{position}'] .check")

    def check_mouse(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        self.check_mark(gallery, 2).click()
        self.wait_for_count(gallery, 1)
        is_closed = page.evaluate("!document.querySelector('#viewer').open")
        self.check("selection: a click on the check mark selects", is_closed and page.evaluate(SELECTED) == [2])
        gallery.tile_link(4).click()
        self.wait_for_count(gallery, 2)
        self.check("selection: further clicks select", page.evaluate(SELECTED) == [2, 4])
        gallery.tile_link(8).click(modifiers=["Shift"])
        self.wait_for_count(gallery, 6)
        self.check("selection: shift selects a range", page.evaluate(SELECTED) == [2, 4, 5, 6, 7, 8])
        gallery.tile_link(2).click()
        self.wait_for_count(gallery, 5)
        page.keyboard.press("Escape")
        gallery.wait("document.querySelector('#selection').hidden")
        self.check("selection: Escape clears it", page.evaluate(SELECTED) == [])
        self.check_drag(gallery)
        page.keyboard.press("Escape")
        gallery.tile_link(3).click()
        gallery.wait("document.querySelector('#viewer').open")
        self.check("selection: without one, a click opens the image", True)
        self.check_quiet(gallery, "selection by mouse")
        gallery.close()

    def check_drag(self, gallery):
        page = gallery.page
        box = self.check_mark(gallery, 1).bounding_box()
        page.mouse.move(box["x"] + 12, box["y"] + 12)
        page.mouse.down()
        for position in (3, 7, 6):
            to = gallery.tile_link(position).bounding_box()
            page.mouse.move(to["x"] + to["width"] / 2, to["y"] + to["height"] / 2)
        page.mouse.up()
        self.wait_for_count(gallery, 6)
        shown = page.evaluate(SELECTED)
        self.check("selection: dragging selects from the first to the last image", shown == [1, 2, 3, 4, 5, 6], shown)
        is_closed = page.evaluate("!document.querySelector('#viewer').open")
        self.check("selection: dragging opens no image", is_closed)

    def check_keyboard(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        gallery.tile_link(5).focus()
        page.keyboard.press("Space")
        self.wait_for_count(gallery, 1)
        pressed = page.get_attribute(".tile[aria-posinset='5'] .check", "aria-pressed")
        self.check("selection: Space selects", pressed == "true")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        self.wait_for_count(gallery, 3)
        page.keyboard.press("Shift+ArrowLeft")
        self.wait_for_count(gallery, 2)
        focused = gallery.focused_position()
        self.check(
            "selection: shift and arrow keys change the range",
            page.evaluate(SELECTED) == [5, 6] and focused == 6,
            f"focus on {focused}",
        )
        page.keyboard.press("Control+a")
        self.wait_for_count(gallery, COUNT)
        self.check("selection: Ctrl+A selects all", True, self.count(gallery))
        page.evaluate("scrollTo({ top: 20000, behavior: 'instant' })")
        gallery.tiles()
        all_selected = page.evaluate("[...document.querySelectorAll('.tile:not(.selected)')].length")
        self.check("selection: tiles that appear later are marked", all_selected == 0)
        page.keyboard.press("Escape")
        gallery.wait("document.querySelector('#selection').hidden")
        self.check_quiet(gallery, "selection by keyboard")
        gallery.close()

    def check_touch(self, server):
        gallery = self.open_timeline(
            server, width=360, height=740, scale=2, is_mobile=True, has_touch=True
        )
        page = gallery.page
        touch = gallery.context.new_cdp_session(page)

        def send(kind, position=None):
            points = []
            if position is not None:
                box = gallery.tile_link(position).bounding_box()
                points = [{"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}]
            touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

        send("Start", 2)
        self.wait_for_count(gallery, 1)
        self.check("selection: a long press selects", page.evaluate(SELECTED) == [2])
        before = page.evaluate("scrollY")
        send("Move", 4)
        send("Move", 5)
        self.wait_for_count(gallery, 4)
        send("End")
        shown = page.evaluate(SELECTED)
        self.check("selection: moving the finger selects a range", shown == [2, 3, 4, 5], shown)
        self.check("selection: the finger does not scroll the page", page.evaluate("scrollY") == before)
        gallery.tile_link(3).tap()
        self.wait_for_count(gallery, 3)
        self.check("selection: a tap deselects", page.evaluate(SELECTED) == [2, 4, 5])
        outside = page.evaluate("""() => [...document.querySelectorAll("#selection *")]
            .filter((part) => part.checkVisibility() && !part.closest("svg") && part.localName !== "option")
            .filter((part) => part.getBoundingClientRect().right > innerWidth
                || part.getBoundingClientRect().left < 0).map((part) => part.outerHTML.slice(0, 60))""")
        self.check("phone: the bar of the selection fits the screen", not outside, outside)
        self.screenshot(gallery, "selection-phone.png")
        page.tap("#selection [data-part=clear]")
        gallery.wait("document.querySelector('#selection').hidden")
        self.check_quiet(gallery, "selection by touch")
        gallery.close()

    def check_days(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        with urllib.request.urlopen(f"{server}/-/library/timeline") as response:
            days = json.load(response)["days"]
        page.locator(".day").nth(1).hover()
        check = page.locator(".day .check").nth(1)
        check.click()
        self.wait_for_count(gallery, days["count"][1])
        first = days["count"][0] + 1
        expected = list(range(first, first + days["count"][1]))
        self.check("selection: a day can be selected", page.evaluate(SELECTED) == expected, expected)
        self.check("selection: its check mark is set", check.get_attribute("aria-pressed") == "true")
        check.click()
        gallery.wait("document.querySelector('#selection').hidden")
        self.check("selection: a day can be deselected", True)
        check.focus()
        page.keyboard.press("Space")
        self.wait_for_count(gallery, days["count"][1])
        self.check("selection: Space on the check mark of a day selects it", page.evaluate(SELECTED) == expected)
        gallery.close()

    def check_changes(self, server):
        """A range starts at the same image after images were added before it, in a day that is not visible."""
        with urllib.request.urlopen(f"{server}/-/library/timeline") as response:
            date = json.load(response)["days"]["date"][0]
        gallery = self.open_timeline(server)
        page = gallery.page
        gallery.tile_link(2).focus()
        page.keyboard.press("Space")
        total = page.evaluate("document.querySelector('.tile').ariaSetSize - 0")
        page.evaluate("scrollTo({ top: 20000, behavior: 'instant' })")
        gallery.tiles()
        page.evaluate(f"fetch('/-/test/add/{date}/3').then(() => null)")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        gallery.wait("(total) => document.querySelector('.tile').ariaSetSize == total", total + 3)
        last = gallery.tiles()[-1]["position"]
        gallery.tile_link(last).click(modifiers=["Shift"])
        gallery.wait("!document.querySelector('#selection [data-part=count]').textContent.startsWith('1 ')")
        # The second image is now the fifth.
        self.check(
            "selection: a range starts at the same image after a change",
            self.count(gallery) == f"{last - 4:,} selected", f"{self.count(gallery)}, to image {last}")
        gallery.close()

    def check_actions(self, server):
        gallery = self.open_timeline(server, permissions=["clipboard-read", "clipboard-write"])
        page = gallery.page
        names = [tile["name"] for tile in gallery.tiles()[:3]]
        for position in (1, 2, 3):
            self.check_mark(gallery, position).click()
        self.wait_for_count(gallery, 3)
        bodies = []
        page.on("request", lambda r: bodies.append(r.post_data_json) if r.method == "POST" else None)
        page.select_option("#selection [data-part=size]", "2048x2048")
        with page.expect_download() as started:
            page.click("#selection [data-part=download]")
        archive = zipfile.ZipFile(io.BytesIO(started.value.path().read_bytes()))
        self.check(
            "download: the archive contains the selection", archive.namelist() == [f"many/{n}" for n in names]
        )
        self.check("download: the size is sent", bodies[-1]["size"] == "2048x2048", bodies[-1]["size"])
        page.click("#selection [data-part=favourite]")
        pressed = "document.querySelector('#selection [data-part=favourite]').ariaPressed === 'true'"
        gallery.wait(pressed)
        gallery.wait("async () => (await (await fetch('/-/test/marks')).json()).favourites.length === 3")
        self.check("favourites: the selection is marked", True)
        page.click("#selection [data-part=copy]")
        gallery.wait("document.querySelector('#selection [data-part=note]').textContent.includes('copied')")
        copied = page.evaluate("navigator.clipboard.readText()").split("\n")
        self.check("selection: the addresses are copied", copied == [f"{server}/#/many/{n}" for n in names], copied[0])
        page.route("**/-/download", lambda r: r.fulfill(status=507, json={"error": "no space"}))
        page.click("#selection [data-part=download]")
        gallery.wait("document.querySelector('#selection [data-part=note]').textContent.includes('no space')")
        self.check("download: an error is shown", True)
        gallery.close()

    def check_repeated_request(self, server, name):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.route("**/library/marks/many", lambda r: r.fulfill(status=500, json={"error": "busy"}), times=1)
        with page.expect_response("**/library/marks/many"):
            gallery.open("many")
        gallery.tiles()
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_selector(f".tile.favourite a[data-name='{name}']")
        self.check("favourites: are requested again after an error", True)
        gallery.close()

    def check_favourites(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        marked = page.evaluate("document.querySelectorAll('.tile.favourite').length")
        self.check("favourites: are shown after a reload", marked == 3, f"{marked}")
        name = page.get_attribute(".tile[aria-posinset='1'] a", "data-name")
        gallery.open("many")
        page.wait_for_selector(f".tile.favourite a[data-name='{name}']")
        self.check("favourites: are shown in folders", True, name)
        self.check_repeated_request(server, name)
        page.go_back()
        page.wait_for_selector(".day")
        gallery.tile_link(5).click()
        gallery.wait("document.querySelector('#viewer').open")
        page.keyboard.press("f")
        gallery.wait("document.querySelector('#viewer [data-part=favourite]').ariaPressed === 'true'")
        gallery.wait("async () => (await (await fetch('/-/test/marks')).json()).favourites.length === 4")
        self.check("favourites: the key F marks the image in the viewer", True)
        page.click("#viewer [data-part=favourite]")
        gallery.wait("async () => (await (await fetch('/-/test/marks')).json()).favourites.length === 3")
        self.check("favourites: the heart removes the mark", True)
        page.keyboard.press("f")
        page.keyboard.press("Escape")
        page.wait_for_selector(".tile[aria-posinset='5'].favourite")
        page.route("**/-/library/marks", lambda r: r.fulfill(status=507, json={"error": "no space"}))
        gallery.tile_link(5).click()
        gallery.wait("document.querySelector('#viewer').open")
        page.keyboard.press("f")
        gallery.wait("document.querySelector('#viewer [data-part=announcement]').textContent.includes('no space')")
        pressed = page.get_attribute("#viewer [data-part=favourite]", "aria-pressed")
        self.check("favourites: a mark that was not saved is reverted", pressed == "true")
        gallery.close()

    def stars(self, gallery, position):
        return gallery.page.evaluate(
            "(p) => document.querySelector(`.tile[aria-posinset='${p}']`).dataset.stars?.length ?? 0", position)

    def wait_for_stars(self, gallery, position, count):
        gallery.wait(
            "([p, n]) => (document.querySelector(`.tile[aria-posinset='${p}']`).dataset.stars?.length ?? 0) === n",
            [position, count])

    def wait_for_rating(self, gallery, name, stars):
        """Waits until the server has stored a rating."""
        gallery.wait(
            "async ([name, stars]) => (await (await fetch('/-/test/marks')).json()).ratings[`many/${name}`] === stars",
            [name, stars])

    def check_ratings(self, server):
        gallery = self.open_timeline(server)
        page = gallery.page
        full = "#viewer .rating button.full"
        name = page.get_attribute(".tile[aria-posinset='7'] a", "data-name")
        gallery.tile_link(7).click()
        gallery.wait("document.querySelector('#viewer').open")
        page.keyboard.press("4")
        self.wait_for_rating(gallery, name, 4)
        shown = page.locator(full).count()
        self.check("ratings: the key 4 gives four stars in the viewer", shown == 4, shown)
        said = page.inner_text("#viewer [data-part=announcement]")
        self.check("ratings: the rating is announced", said == "4 stars", said)
        page.click("#viewer .rating button >> nth=1")
        self.wait_for_rating(gallery, name, 2)
        pressed = page.locator("#viewer .rating [aria-pressed=true]").all()
        labels = [button.get_attribute("aria-label") for button in pressed]
        self.check("ratings: a click on the second star gives two", labels == ["2 stars"], labels)
        self.screenshot(gallery, "rating.png")
        page.click("#viewer .rating button >> nth=1")
        self.wait_for_rating(gallery, name, 0)
        self.check("ratings: another click removes the rating", page.locator(full).count() == 0)
        page.keyboard.press("5")
        self.wait_for_rating(gallery, name, 5)
        page.keyboard.press("0")
        self.wait_for_rating(gallery, name, 0)
        self.check("ratings: the key 0 removes the rating", page.locator(full).count() == 0)
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('#viewer').open && location.hash === '#all'")
        self.check_ratings_of_grid(gallery)
        name = page.get_attribute(".tile[aria-posinset='1'] a", "data-name")
        gallery.tile_link(1).focus()
        page.keyboard.press("2")
        self.wait_for_rating(gallery, name, 2)
        gallery.open("many")
        page.wait_for_selector(f".tile[data-stars] a[data-name='{name}']")
        self.check("ratings: are shown in folders", True)
        self.check_quiet(gallery, "ratings")
        page.go_back()
        page.wait_for_selector(".day")
        gallery.tiles()
        self.check_failed_rating(gallery)
        gallery.close()

    def check_ratings_of_grid(self, gallery):
        page = gallery.page
        names = [page.get_attribute(f".tile[aria-posinset='{p}'] a", "data-name") for p in (8, 9)]
        gallery.tile_link(8).focus()
        page.keyboard.press("3")
        self.wait_for_rating(gallery, names[0], 3)
        self.wait_for_stars(gallery, 8, 3)
        label = page.get_attribute(".tile[aria-posinset='8'] a", "aria-label")
        self.check("ratings: a key rates the image with the focus", label == f"{names[0]}, 3 stars", label)
        for position in (8, 9):
            self.check_mark(gallery, position).click()
        self.wait_for_count(gallery, 2)
        shown = page.locator("#selection .rating button.full").count()
        self.check("ratings: the bar shows no rating for several ones", shown == 0, shown)
        page.click("#selection .rating button >> nth=3")
        for position, name in zip((8, 9), names):
            self.wait_for_rating(gallery, name, 4)
            self.wait_for_stars(gallery, position, 4)
        shown = page.locator("#selection .rating button.full").count()
        self.check("ratings: the bar rates the selection", shown == 4, shown)
        page.keyboard.press("f")
        gallery.wait("document.querySelector('#selection [data-part=favourite]').ariaPressed === 'true'")
        self.check("favourites: the key F marks the selection", True)
        page.keyboard.press("f")
        self.screenshot(gallery, "ratings.png")
        page.select_option("#selection [data-part=size]", "xmp")
        with page.expect_download() as started:
            page.click("#selection [data-part=download]")
        stored = sorted(zipfile.ZipFile(io.BytesIO(started.value.path().read_bytes())).namelist())
        expected = sorted(f"many/{name}.xmp" for name in names)
        self.check("ratings: sidecars are downloaded", stored == expected, stored)
        page.keyboard.press("Escape")
        page.fill("#search input", "rating:4")
        gallery.wait("document.querySelector('.tile')?.ariaSetSize == 2")
        self.check("ratings: a search finds them", True)
        page.fill("#search input", "")
        gallery.wait("location.hash === '#all' && document.querySelector('.tile')?.ariaSetSize > 2")
        gallery.tiles()

    def check_failed_rating(self, gallery):
        page = gallery.page
        page.route("**/-/library/marks", lambda r: r.fulfill(status=507, json={"error": "no space"}), times=1)
        gallery.tile_link(8).focus()
        page.keyboard.press("1")
        gallery.wait("document.querySelector('#selection [data-part=note]').textContent.includes('no space')")
        self.check("ratings: an error is shown without a selection", page.is_visible("#selection [data-part=note]"))
        self.wait_for_stars(gallery, 8, 4)
        self.check("ratings: a rating that was not saved is reverted", True)

    def check_other_page(self, server):
        """A mark of one page is visible on another one, whatever that has marked before."""
        galleries = [self.open_timeline(server) for _ in range(2)]
        one, other = galleries
        for gallery, stars in ((one, 1), (other, 2), (one, 3)):
            gallery.tile_link(10).focus()
            gallery.page.keyboard.press(str(stars))
            for seen in galleries:
                self.wait_for_stars(seen, 10, stars)
        self.check("ratings: a rating appears on the other pages", True)
        for gallery in galleries:
            gallery.close()

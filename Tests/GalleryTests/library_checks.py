# SPDX-License-Identifier: Apache-2.0
"""The timeline, search, covers, marks and archives of the server itself."""

import io
import json
import urllib.request
import zipfile

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage


class LibraryChecks(GalleryChecks):
    def test_library(self):
        gallery = GalleryPage(self.browser, self.server)
        page = gallery.page
        page.goto(f"{self.server}/#all")
        gallery.wait("async () => (await (await fetch('/-/library/status')).json()).state === 'complete'")
        page.wait_for_selector("#progress", state="hidden")
        total = self.wait_for_all(gallery)
        self.check("library: the timeline has more images than the folder", total > self.total, f"{total}")
        self.check_order(gallery, "timeline", "")
        self.check_search(gallery)
        self.check_archive(gallery)
        self.check_favourites(gallery)
        self.check_covers(gallery)
        self.check_quiet(gallery, "library")
        gallery.close()

    def test_service_worker(self):
        """The policy and the headers of the server permit the service worker."""
        gallery = GalleryPage(self.browser, self.server, service_workers="allow")
        page = gallery.page
        page.unroute_all()
        gallery.open("")
        gallery.wait("navigator.serviceWorker.controller !== null")
        scope = page.evaluate("navigator.serviceWorker.ready.then(({ scope }) => scope)")
        self.check("library: the service worker serves the page", scope == f"{self.server}/", scope)
        errors = gallery.context.new_cdp_session(page).send("Page.getAppManifest")["errors"]
        self.check("library: the manifest is permitted", not errors, errors)
        self.check_quiet(gallery, "service worker")
        gallery.close()

    def wait_for_all(self, gallery):
        """
        Waits until the timeline shows all images; returns their number.

        A search can find as many and stays in place until the timeline arrives: only the summary tells
        them apart.
        """
        total = self.get("timeline")["total"]
        gallery.wait("(text) => document.querySelector('#summary').textContent === text", f"{total:,} images")
        gallery.wait("(total) => document.querySelector('.tile')?.ariaSetSize == total", total)
        return total

    def get(self, path):
        with urllib.request.urlopen(f"{self.server}/-/library/{path}") as response:
            return json.load(response)

    def check_order(self, gallery, what, query):
        """Compares the first tiles with the response of the server, without dates."""
        expected = self.get(f"images?offset=0&limit=500&q={query}")["pictures"]
        wrong = [
            tile["name"] for tile in gallery.tiles() if tile["name"] != expected["name"][tile["position"] - 1]
        ]
        self.check(f"library: the {what} has the order of the server", not wrong, wrong[:3])

    def check_search(self, gallery):
        page = gallery.page
        word = self.names[0].split(".")[0].split("-")[0]
        page.fill("#search input", word)
        gallery.wait("(word) => document.querySelector('#summary').textContent.includes(`“${word}”`)", word)
        total = self.get(f"timeline?q={word}")["total"]
        gallery.wait("(total) => document.querySelector('.tile')?.ariaSetSize == total", total)
        self.check("library: the search finds images", total > 0, f"{total} for {word}")
        self.check_order(gallery, "search", word)
        page.fill("#search input", "format:jp")
        page.wait_for_selector("#completions li")
        label = page.locator("#completions strong").first.inner_text()
        self.check("library: formats are completed", "jp" in label.lower(), label)
        page.fill("#search input", "")
        page.keyboard.press("Escape")
        gallery.wait("location.hash === '#all'")

    def check_archive(self, gallery):
        page = gallery.page
        # A view that is replaced loses its selection.
        self.wait_for_all(gallery)
        gallery.tiles()
        for position in (1, 2):
            gallery.tile_link(position).focus()
            page.keyboard.press("Space")
        names = [page.get_attribute(f".tile[aria-posinset='{n}'] a", "data-name") for n in (1, 2)]
        with page.expect_download() as started:
            page.click("#selection [data-part=download]")
        archive = zipfile.ZipFile(io.BytesIO(started.value.path().read_bytes()))
        stored = [path.split("/")[-1] for path in archive.namelist()]
        is_whole = archive.testzip() is None and sorted(stored) == sorted(names)
        self.check("library: the archive has the selected originals", is_whole, stored)
        page.keyboard.press("Escape")

    def check_favourites(self, gallery):
        page = gallery.page
        gallery.tile_link(3).click()
        gallery.wait("document.querySelector('#viewer').open")
        name = page.inner_text("#viewer [data-part=name]")
        page.keyboard.press("f")
        found = "async () => (await (await fetch('/-/library/timeline?q=is:favourite')).json()).total"
        gallery.wait(f"async () => await ({found})() === 1")
        self.close_viewer(gallery)
        page.wait_for_selector(".tile[aria-posinset='3'].favourite")
        page.reload()
        page.wait_for_selector(".tile[aria-posinset='3'].favourite")
        self.check("library: a favourite is kept", True, name)
        gallery.tile_link(3).click()
        gallery.wait("document.querySelector('#viewer [data-part=favourite]').ariaPressed === 'true'")
        page.keyboard.press("f")
        gallery.wait(f"async () => await ({found})() === 0")
        self.check("library: the mark is removed", True)
        self.close_viewer(gallery)

    def close_viewer(self, gallery):
        """Closing goes back in the history, which takes a moment."""
        gallery.page.keyboard.press("Escape")
        gallery.wait("location.hash === '#all' && !document.querySelector('#viewer').open")

    def check_covers(self, gallery):
        if self.parent is None:
            return self.skip_check("library: covers", "no folder contains folders")
        page = gallery.page
        gallery.open(self.parent)
        page.wait_for_selector("#cards.covers a")
        gallery.wait("document.querySelector('#cards .cover[style]') !== null")
        self.check("library: folders have covers", True)
        self.screenshot(gallery, "library-folders.png")

# SPDX-License-Identifier: Apache-2.0
"""Links to folders and selections, made by a user who has logged in, and opened by a guest."""

import pathlib
import shutil
import subprocess

from axe_playwright_python.sync_playwright import Axe
from calotype_server import CheckedServer
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage

PASSWORD = "open sesame"
PART = "#share [data-part={}]"


class ShareChecks(GalleryChecks):
    def test_share(self, request, tmp_path):
        program, photos = (request.config.getoption(name) for name in ("--calotype", "--photos"))
        if not program or not photos:
            self.skip("--calotype and --photos are required")
        folder = tmp_path / "photos" / "holiday"
        folder.mkdir(parents=True)
        for file in [file for file in sorted((pathlib.Path(photos) / self.folder).iterdir()) if file.is_file()][:12]:
            shutil.copy(file, folder)
        hashed = tmp_path / "password"
        hashed.write_text(subprocess.run(
            [program, "password"], input=PASSWORD + "\n", capture_output=True, text=True, check=True).stdout)
        with CheckedServer(program, folder.parent, tmp_path / "cache", "--password", str(hashed)) as server:
            user = self.log_in(server.url)
            images, total = self.check_selection(user)
            place = self.check_folder(user)
            self.check_guest_of_selection(server.url, images, total)
            guest = self.check_guest_of_folder(place)
            self.check_links(user)
            self.check_withdrawn(guest, place, images)
            user.close()

    def log_in(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.goto(f"{server}/-/login")
        page.fill("input[type=password]", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: not url.endswith("/login"))
        page.goto(f"{server}/#all")
        gallery.wait("async () => (await (await fetch('/-/library/status')).json()).state === 'complete'")
        gallery.wait("document.documentElement.classList.contains('can-share')")
        gallery.tiles()
        return gallery

    def check_selection(self, gallery):
        """Shares two images; returns the link and the number of all images."""
        page = gallery.page
        for position in (2, 4):
            gallery.tile_link(position).hover()
            page.locator(f".tile[aria-posinset='{position}'] .check").click()
        self.selected = [self.name(gallery, position) for position in (2, 4)]
        total = page.evaluate("document.querySelector('.tile').ariaSetSize - 0")
        page.click("#selection [data-part=share]")
        self.check("share: the dialog names what is shared", page.inner_text(PART.format("title")) == "Share 2 images",
                   page.inner_text(PART.format("title")))
        self.check("share: no link before it is requested", not page.is_visible(PART.format("url")))
        self.check("share: a week by default", page.input_value(PART.format("days")) == "7")
        page.click(PART.format("make"))
        page.wait_for_selector(PART.format("url"))
        link = page.input_value(PART.format("url"))
        self.check("share: a link of this server", link.startswith(f"{gallery.server}/-/share/"), link)
        self.screenshot(gallery, "share.png")
        problems = Axe().run(page, "#share").response["violations"]
        self.check("share: the dialog is accessible", not problems, [problem["id"] for problem in problems])
        page.select_option(PART.format("days"), "1")
        self.check("share: another duration needs another link", not page.is_visible(PART.format("url")))
        page.click(PART.format("close"))
        self.check("share: the selection stays", page.inner_text("#selection [data-part=count]") == "2 selected")
        return link, total

    def name(self, gallery, position):
        return gallery.page.evaluate(
            "(p) => document.querySelector(`.tile[aria-posinset='${p}'] a`).getAttribute('href')", position
        ).split("?")[0].split("/")[-1]

    def check_folder(self, gallery):
        """Shares a folder; returns the link."""
        page = gallery.page
        gallery.open("")
        page.wait_for_selector("#cards a")
        self.check("share: the root has no button", not page.is_visible("#share-folder"))
        gallery.open("holiday")
        page.wait_for_selector("#share-folder")
        page.click("#share-folder")
        page.click(PART.format("make"))
        page.wait_for_selector(PART.format("url"))
        link = page.input_value(PART.format("url"))
        page.keyboard.press("Escape")
        self.check_quiet(gallery, "share")
        return link

    def check_guest_of_selection(self, server, link, total):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.goto(link)
        gallery.tiles()
        count = page.evaluate("document.querySelector('.tile').ariaSetSize - 0")
        self.check("guest: sees the selection only", count == 2 < total, f"{count} of {total}")
        self.check("guest: the title", page.inner_text("#title") == "Shared images", page.inner_text("#title"))
        names = [self.name(gallery, position) for position in (1, 2)]
        self.check("guest: the images are those that were selected", names == self.selected, f"{names} {self.selected}")
        hidden = ["#views", "#search", "#share-folder", "#selection [data-part=share]"]
        shown = [part for part in hidden if page.is_visible(part)]
        self.check("guest: no search, no folders, no sharing", not shown, shown)
        self.screenshot(gallery, "guest.png")
        gallery.tile_link(1).click()
        page.wait_for_selector("#viewer[open]")
        gallery.wait("document.querySelector('#viewer [data-part=exact]').naturalWidth > 0")
        page.keyboard.press("Escape")
        # Closing goes back in the history, which a navigation would interrupt.
        gallery.wait("location.hash === '#all' && !document.querySelector('#viewer').open")
        page.goto(f"{server}/")
        gallery.wait("location.hash === '#all'")
        gallery.tiles()
        self.check_quiet(gallery, "guest of a selection")
        status = page.evaluate("async () => (await fetch('/-/library/images?q=a')).status")
        self.check("guest: a search finds nothing", status == 404, status)
        gallery.close()

    def check_guest_of_folder(self, link):
        gallery = GalleryPage(self.browser, link.split("/-/")[0])
        gallery.page.goto(link)
        gallery.tiles()
        self.check("guest: sees the folder", gallery.page.inner_text("#title") == "holiday")
        self.check("guest: no list of links", not gallery.page.is_visible("#show-links"))
        status = gallery.page.evaluate("async () => (await fetch('/-/share')).status")
        self.check("guest: the list of links is refused", status == 401, status)
        return gallery

    def check_links(self, gallery):
        """Withdraws the link to the folder, with the keyboard."""
        page = gallery.page
        page.focus("#show-links")
        page.keyboard.press("Enter")
        page.wait_for_selector("#links li")
        names = page.locator("#links li strong").all_inner_texts()
        self.check("links: the active ones, the latest first", names == ["holiday", "2 images"], names)
        self.screenshot(gallery, "links.png")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            problems = Axe().run(page, "#links").response["violations"]
            self.check(f"links: accessible ({scheme})", not problems, [problem["id"] for problem in problems])
        withdraw = page.get_by_role("button", name="Withdraw the link to holiday")
        withdraw.focus()
        page.keyboard.press("Enter")
        asked = page.get_by_role("button", name="Really withdraw the link to holiday?")
        self.check("links: withdrawing is asked for", asked.is_visible())
        page.keyboard.press("Tab")
        self.check("links: leaving the button answers no", withdraw.is_visible() and not asked.is_visible())
        withdraw.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        gallery.wait("document.querySelectorAll('#links li').length === 1")
        focused = page.evaluate("document.activeElement.ariaLabel")
        self.check("links: the focus stays in the list", focused == "Withdraw the link to 2 images", focused)
        note = page.inner_text("#links [data-part=note]")
        self.check("links: the result is announced", note == "The link to holiday was withdrawn", note)
        page.keyboard.press("Escape")
        self.check_quiet(gallery, "links")

    def check_withdrawn(self, guest, link, other):
        """The guest of the folder sees nothing any more; the other link works."""
        page = guest.page
        page.reload()
        page.wait_for_selector("#message:not([hidden])")
        text = page.inner_text("#message")
        self.check("withdrawn: the page says why it shows nothing", "withdrawn" in text, text)
        response = page.goto(link)
        self.check("withdrawn: the link is gone", response.status == 410, response.status)
        response = page.goto(other)
        self.check("withdrawn: another link works", response.ok, response.status)
        guest.close()

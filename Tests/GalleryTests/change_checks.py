# SPDX-License-Identifier: Apache-2.0
"""Files that are added, changed, moved and removed while the page is open."""

import json
import re
import time
import urllib.request
from urllib.parse import quote, unquote, urlsplit

import pytest
from calotype_server import CheckedServer
from changing_library import ChangingLibrary
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage

MOST_SECONDS = 2
SLOWDOWN = 4

# The visible tiles with the numbers that their images show; null without an image.
READ = """() => {
  const canvas = new OffscreenCanvas(40, 40);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const numberIn = (image) => {
    if (image === null || !image.complete || image.naturalWidth === 0) return null;
    context.drawImage(image, 0, 0, 40, 40);
    const { data } = context.getImageData(0, 0, 40, 40);
    let number = 0;
    for (let bit = 0; bit < 16; bit += 1) {
      const [x, y] = [bit % 4 * 10 + 5, Math.floor(bit / 4) * 10 + 5];
      if (data[(y * 40 + x) * 4] > 125) number |= 1 << bit;
    }
    return number;
  };
  return [...document.querySelectorAll(".tile")].flatMap((tile) => {
    const { top, bottom } = tile.getBoundingClientRect();
    if (bottom <= 0 || top >= innerHeight) return [];
    const link = tile.querySelector("a");
    return [{
      position: Number(tile.ariaPosInSet), total: Number(tile.ariaSetSize),
      href: link.getAttribute("href") ?? "", number: numberIn(tile.querySelector("img")),
      failed: tile.classList.contains("failed"),
    }];
  });
}"""


def path_of(href):
    """Returns the path of an image in the fragment of the timeline or of a folder."""
    parts = href.removeprefix("#all/").split("/", 1) if href.startswith("#all/") else ["", href.removeprefix("#/")]
    return unquote(parts[-1])


class ChangeChecks(GalleryChecks):
    def test_change(self, request, tmp_path):
        self.follow(request, tmp_path, count=600, rounds=10, changes=50)

    @pytest.mark.deep
    def test_change_scale(self, request, tmp_path):
        self.follow(request, tmp_path, count=10_000, rounds=100, changes=100, slowdown=SLOWDOWN)

    def test_stale_version(self, request, tmp_path):
        """An image that was requested while another one had its name is requested again."""
        program = request.config.getoption("--calotype")
        if not program:
            self.skip("--calotype is required")
        folder = tmp_path / "photos"
        folder.mkdir()
        library = ChangingLibrary(folder, 4, seed=1)
        (path, number), (other, _) = library.newest_first()[:2]
        with CheckedServer(program, folder, tmp_path / "cache") as server:
            status = self.complete_status(server.url)
            gallery = GalleryPage(self.browser, server.url)
            page = gallery.page
            held, first = [], re.compile(re.escape(quote(path.split("/")[-1])))
            page.route(first, lambda route: held.append(route))
            # The page does not know of the exchange.
            page.route("**/-/library/status*", lambda route: route.fulfill(body=status))
            page.goto(f"{server.url}/#all")
            gallery.wait("() => document.querySelectorAll('.tile.loaded').length === 3")
            # The whole timeline, which is shown after the newest images, would request the image again.
            page.wait_for_selector(".day")
            library.exchange(path, other)
            # Later requests are not held.
            page.unroute(first)
            held.pop().continue_()
            gallery.wait("() => document.querySelectorAll('.tile.loaded').length === 4")
            page.unroute_all()
            library.exchange(path, other)
            self.wrong = []
            self.wait_until_true(gallery, library, library.newest_first())
            self.check("change: an image of another version does not stay", not self.wrong, f"{path}: {number}")
            gallery.close()

    def complete_status(self, url):
        """Returns the status of the library once all images have been read."""
        while True:
            with urllib.request.urlopen(f"{url}/-/library/status") as response:
                status = response.read().decode()
            if json.loads(status)["state"] == "complete":
                return status
            time.sleep(0.05)

    def follow(self, request, tmp_path, count, rounds, changes, slowdown=1):
        """Makes changes in rounds; after each, the page must show what the folder contains."""
        program = request.config.getoption("--calotype")
        if not program:
            self.skip("--calotype is required")
        folder = tmp_path / "photos"
        folder.mkdir()
        library = ChangingLibrary(folder, count, seed=count)
        with CheckedServer(program, folder, tmp_path / "cache") as server:
            self.complete_status(server.url)
            gallery = GalleryPage(self.browser, server.url)
            # Interception by the driver would take longer than the server.
            gallery.page.unroute_all()
            gallery.page.goto(f"{server.url}/#all")
            gallery.context.new_cdp_session(gallery.page).send(
                "Emulation.setCPUThrottlingRate", {"rate": slowdown})
            self.wrong = []
            self.wait_until_true(gallery, library, library.newest_first())
            times = []
            for number in range(rounds):
                # Every other round at the top, the others anywhere.
                share = 0 if number % 2 == 0 else library.random.random()
                gallery.page.evaluate(
                    "(share) => scrollTo({ top: share * (document.documentElement.scrollHeight - innerHeight),"
                    " behavior: 'instant' })", share)
                near = [path_of(tile["href"]) for tile in gallery.page.evaluate(READ)]
                library.apply(changes, near)
                times.append(self.wait_until_true(gallery, library, library.newest_first()))
            self.report(f"timeline, {library.change_count:,} changes", times)
            self.check_folder(gallery, library, changes)
            self.check("change: no name has had a wrong image", not self.wrong, self.wrong[:3])
            self.check_quiet_of_changes(gallery, library)
            gallery.close()

    def check_folder(self, gallery, library, changes):
        """The same in a folder."""
        gallery.open("trip")
        self.wait_until_true(gallery, library, library.by_name("trip"))
        near = [path_of(tile["href"]) for tile in gallery.page.evaluate(READ)]
        library.apply(changes, near)
        self.wait_until_true(gallery, library, library.by_name("trip"))

    def wait_until_true(self, gallery, library, images, most=60):
        """
        Waits until the visible tiles show some images; returns the seconds.

        Until then, a name may have an older image of its own, but none of another name.
        """
        started = time.monotonic()
        while True:
            tiles = gallery.page.evaluate(READ)
            for path, number in ((path_of(tile["href"]), tile["number"]) for tile in tiles):
                if path and number is not None and number not in library.numbers[path]:
                    self.wrong.append(f"{number} at {path}")
            differences = list(self.differences(tiles, images))
            elapsed = time.monotonic() - started
            # A change may have moved the whole folder, with all of its images.
            if not differences and (tiles or not images):
                return elapsed
            if elapsed > most:
                raise TimeoutError(f"the page differs from the folder: {differences[:3]}")
            gallery.next_frame()

    def differences(self, tiles, images):
        for tile in tiles:
            place = tile["position"] - 1
            shown = (path_of(tile["href"]), tile["number"])
            if tile["total"] != len(images):
                yield f"{tile['total']} images instead of {len(images)}"
            elif shown != images[place]:
                yield f"{shown} at {place}, not {images[place]}{' (failed)' if tile['failed'] else ''}"

    def report(self, what, times):
        ordered = sorted(times)
        detail = (f"{len(times)} rounds: median {ordered[len(times) // 2]:.2f} s, worst {ordered[-1]:.2f} s")
        self.check_time(
            f"change: {what}: the page is true within {MOST_SECONDS} s", ordered[-1] <= MOST_SECONDS, detail)

    def check_quiet_of_changes(self, gallery, library):
        # An image may be removed between the listing and the request.
        troubles = [trouble for trouble in gallery.traffic.troubles if "404" not in trouble]
        # Or be requested before it is complete: an error of the request and one of the console for each.
        incomplete = [trouble for trouble in troubles if trouble.startswith("status 415: ")
                      and unquote(urlsplit(trouble.split(" ")[-1]).path).split("/")[-1] in library.written_in_place]
        consoles = [trouble for trouble in troubles if trouble.startswith("console error") and " 415 " in trouble]
        for trouble in incomplete + consoles[:len(incomplete)]:
            troubles.remove(trouble)
        self.check("change: no console message, no failed request", not troubles, troubles[:3])

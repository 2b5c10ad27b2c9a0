# SPDX-License-Identifier: Apache-2.0
"""The view of duplicates, with copies that Pillow has made, and hashes that are computed independently."""

import json
import pathlib
import urllib.request

import numpy
from axe_playwright_python.sync_playwright import Axe
from calotype_server import CheckedServer
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage
from PIL import Image

# The distance of images that look alike, and that of images that certainly do not.
NEAR, FAR = 15, 25
MOST_ORIGINALS = 12


def difference_hash(image):
    """Returns the 128 bits of a difference hash in both directions."""
    gray = image.convert("L")
    wide = numpy.asarray(gray.resize((9, 8), Image.LANCZOS), int)
    high = numpy.asarray(gray.resize((8, 9), Image.LANCZOS), int)
    return numpy.concatenate([(numpy.diff(wide, axis=1) > 0).ravel(), (numpy.diff(high, axis=0) > 0).ravel()])


def cropped(image, share):
    width, height = image.size
    left, top = round(width * share), round(height * share)
    return image.crop((left, top, width - left, height - top))


class DuplicateChecks(GalleryChecks):
    def test_duplicate(self, request, tmp_path):
        program, photos = (request.config.getoption(name) for name in ("--calotype", "--photos"))
        if not program or not photos:
            self.skip("--calotype and --photos are required")
        folder = tmp_path / "photos"
        self.write_copies(pathlib.Path(photos), folder)
        with CheckedServer(program, folder, tmp_path / "cache") as server:
            gallery = GalleryPage(self.browser, server.url)
            gallery.page.goto(f"{server.url}/#duplicates")
            gallery.wait(
                "async () => (await (await fetch('/-/library/duplicates')).json()).state === 'complete'")
            with urllib.request.urlopen(f"{server.url}/-/library/duplicates") as response:
                self.answer = json.load(response)
            self.check_groups()
            self.check_page(gallery)
            gallery.close()

    def write_copies(self, photos, folder):
        """Writes different images, and four copies of each."""
        self.hashes, self.originals = {}, []
        files = [file for file in sorted(photos.iterdir()) if file.is_file()]
        for file in files:
            image = Image.open(file).convert("RGB")
            image.thumbnail((1200, 1200))
            known = difference_hash(image)
            if any((known != self.hashes[f"{name}/original.jpg"]).sum() <= FAR for name in self.originals):
                continue
            name = f"{len(self.originals)}"
            self.originals.append(name)
            copies = {
                "half.png": image.resize((image.width // 2, image.height // 2), Image.BICUBIC),
                "small.webp": image.resize((image.width // 5, image.height // 5), Image.LANCZOS),
                "cropped.jpg": cropped(image, 0.015),
            }
            place = folder / name
            place.mkdir(parents=True)
            image.save(place / "original.jpg", quality=92)
            image.save(place / "recompressed.jpg", quality=35)
            for copy, made in copies.items():
                made.save(place / copy)
            for path in place.iterdir():
                self.hashes[f"{name}/{path.name}"] = difference_hash(Image.open(path))
            if len(self.originals) == MOST_ORIGINALS:
                break
        first = folder / "0/original.jpg"
        (folder / "equal.jpg").write_bytes(first.read_bytes())
        self.hashes["equal.jpg"] = self.hashes["0/original.jpg"]

    def paths(self, group):
        pictures = group["pictures"]
        return [f"{folder}/{name}".lstrip("/") for folder, name in zip(pictures["folder"], pictures["name"])]

    def check_groups(self):
        group_of = {path: i for i, group in enumerate(self.answer["groups"]) for path in self.paths(group)}
        copies = [path for path in self.hashes if "/" in path and not path.endswith("original.jpg")]
        found = [
            path
            for path in copies
            if group_of.get(path, -1) == group_of.get(path.split("/")[0] + "/original.jpg", -2)
        ]
        missed = sorted(set(copies) - set(found))
        self.check(
            "duplicates: resized, recompressed and cropped copies are found",
            len(found) >= 0.95 * len(copies), f"{len(found)} of {len(copies)}, without {missed}")
        origin = lambda path: "0" if path == "equal.jpg" else path.split("/")[0]
        wrong = [
            (one, other)
            for group in self.answer["groups"]
            for one in self.paths(group)
            for other in self.paths(group)
            if origin(one) != origin(other)
        ]
        self.check("duplicates: different images are not found", not wrong, wrong[:3])
        pairs = [
            (one, other) for one in copies for other in [one.split("/")[0] + "/original.jpg"]
            if (self.hashes[one] != self.hashes[other]).sum() <= NEAR - 4
        ]
        lost = [pair for pair in pairs if group_of.get(pair[0]) != group_of.get(pair[1])]
        self.check(
            "duplicates: pairs with near hashes, computed independently, are in one group", not lost,
            f"{len(pairs)} pairs, without {lost[:3]}")
        equal = next(group for group in self.answer["groups"] if "equal.jpg" in self.paths(group))
        paths = self.paths(equal)
        firsts = {path: paths[first] for path, first in zip(paths, equal["equal"])}
        same = {path for path, first in firsts.items() if firsts["equal.jpg"] == first}
        self.check("duplicates: files with the same bytes are named", same == {"equal.jpg", "0/original.jpg"}, same)

    def check_page(self, gallery):
        page = gallery.page
        total = self.answer["total"]
        page.wait_for_selector("#duplicates article")
        gallery.wait(
            "(count) => document.querySelectorAll('#duplicates article').length === count", min(total, 20))
        self.check("duplicates: the page shows the groups", page.inner_text("#summary").startswith(f"{total} "))
        gallery.wait("[...document.querySelectorAll('#duplicates article:first-of-type img')]"
                     ".every((image) => image.complete && image.naturalWidth > 0)")
        order = page.locator("#duplicates article").first.locator(".place").all_inner_texts()
        self.check("duplicates: the largest image comes first", order == self.paths(self.answer["groups"][0]), order)
        note = page.locator("#duplicates article", has_text="equal.jpg").inner_text()
        self.check("duplicates: equal files are named", "Same file as" in note)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            problems = Axe().run(page).response["violations"]
            self.check(f"duplicates: accessible, {scheme}", not problems, [problem["id"] for problem in problems])
            self.screenshot(gallery, f"duplicates-{scheme}.png")
        page.set_viewport_size({"width": 360, "height": 740})
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        self.check("duplicates: fit a phone", not wide)
        self.screenshot(gallery, "duplicates-phone.png")
        page.locator("#duplicates article a").first.click()
        gallery.wait("document.querySelector('#viewer').open")
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('#viewer').open")
        self.check("duplicates: an image opens in its folder", "/#/" in page.url, page.url)
        hidden = not page.is_visible("#duplicates")
        page.click("#views a[href='#duplicates']")
        page.wait_for_selector("#duplicates article")
        self.check("duplicates: other views do not show them", hidden)
        self.check_quiet(gallery, "duplicates")

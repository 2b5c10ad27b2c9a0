# SPDX-License-Identifier: Apache-2.0
"""Placeholders, which are displayed before renditions are loaded."""

import base64
import io

import numpy
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server
from PIL import Image
from thumbhash import _thumbhash as reference

# Waves with a transparent corner in four shapes, which cover every layout of a hash.
SHAPES = [(100, 75), (75, 100), (64, 64), (100, 20)]


def sample_hashes():
    for has_alpha in (False, True):
        for width, height in SHAPES:
            x, y = numpy.meshgrid(numpy.linspace(0, 5, width), numpy.linspace(0, 4, height))
            channels = [numpy.sin(x * (i + 1)) * numpy.cos(y + i) * 120 + 128 for i in range(3)]
            alpha = numpy.where((x + y < 2) & has_alpha, 0, 255)
            pixels = numpy.stack([*channels, alpha], 2).clip(0, 255).astype("uint8")
            yield bytes(reference.rgba_to_thumb_hash(width, height, pixels.tobytes()))


class PlaceholderChecks(GalleryChecks):
    """Compares the page's ThumbHash decoder with the reference, and the tiles on screen."""

    def test_placeholders(self):
        gallery = self.open()
        self.check_decoder(gallery)
        gallery.close()
        with start_synthetic_server(count=300) as server:
            self.check_painted(server)

    def check_decoder(self, gallery):
        worst = 0
        for hash_bytes in sample_hashes():
            width, height, rgba = reference.thumb_hash_to_rgba(hash_bytes)
            expected = numpy.frombuffer(bytes(rgba), "uint8").astype(int)
            size, data = gallery.page.evaluate(
                """async (hash) => {
                const { parseThumbHash } = await import("/-/gallery/thumbhash.js");
                const { width, height, data } = parseThumbHash(hash).image(32);
                return [[width, height], [...data]];
            }""",
                base64.b64encode(hash_bytes).decode(),
            )
            if size != [width, height]:
                return self.check("placeholders: the size equals the reference", False, f"{size}")
            worst = max(worst, abs(numpy.array(data) - expected).max())
        self.check(
            "placeholders: pixels equal the reference decoder's within 1", worst <= 1, f"{worst}"
        )
        refused = gallery.page.evaluate("""async () => {
            const { parseThumbHash } = await import("/-/gallery/thumbhash.js");
            return ["", "?", "AAAA", "AAAAAAA=", "3OcRJYB4d3h/iIeHeEh3eIhw+j2w/w=="]
                .every((text) => parseThumbHash(text) === null);
        }""")
        self.check("placeholders: invalid hashes are rejected", refused)

    def check_painted(self, server):
        """Checks that tiles show their placeholders while renditions are delayed."""
        gallery = GalleryPage(self.browser, server)
        held = []
        gallery.page.route("**/*x*/**", lambda route: held.append(route))
        gallery.open("many")
        gallery.wait("""() => {
            const links = [...document.querySelectorAll(".tile a")];
            return links.length > 20 && links.every((link) => link.style.backgroundImage !== "");
        }""")
        gallery.next_frame()
        gallery.next_frame()
        shot = Image.open(io.BytesIO(gallery.page.screenshot())).convert("RGB")
        listing = gallery.page.evaluate(
            "fetch('/-/listing/many?offset=0&limit=100').then((response) => response.json())"
        )
        tiles = gallery.visible_tiles()
        whole = [t for t in tiles if t["top"] > 60 and t["top"] + t["height"] < 900]
        distances = []
        for tile in whole:
            hashed = base64.b64decode(listing["pictures"]["placeholder"][str(tile["position"] - 1)])
            width, height, rgba = reference.thumb_hash_to_rgba(hashed)
            expected = Image.frombytes("RGBA", (width, height), bytes(rgba)).convert("RGB")
            left, top = round(tile["left"]), round(tile["top"])
            box = (left, top, left + round(tile["width"]), top + round(tile["height"]))
            seen = shot.crop(box).resize(expected.size, Image.Resampling.BOX)
            inner = (slice(2, -2), slice(2, -2))
            difference = numpy.asarray(seen, int)[inner] - numpy.asarray(expected, int)[inner]
            distances.append(abs(difference).mean())
        self.check(
            "placeholders: tiles show them before any rendition is loaded",
            len(whole) > 5 and max(distances) < 8,
            f"{len(whole)} tiles, mean distance up to {max(distances, default=-1):.1f} of 255",
        )
        before = {tile["name"]: tile["left"] for tile in tiles}
        gallery.page.unroute("**/*x*/**")
        for route in held:
            route.continue_()
        after = {tile["name"]: tile["left"] for tile in gallery.tiles()}
        self.check("placeholders: images replace them without a layout shift", before == after)
        self.check_quiet(gallery, "placeholders")
        gallery.close()

# SPDX-License-Identifier: Apache-2.0
"""Zooming into an image, with its tiles instead of its original."""

import io

import numpy
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, ladder_step, start_synthetic_server
from PIL import Image
from synthetic_server import LARGE, known_pixels

FRAME = """() => {
  const { left, top, width } = document.querySelector('[data-part=frame]').getBoundingClientRect();
  return { left, top, width };
}"""
# Resolves with the position once it has not changed for longer than a motion takes. Beside a busy machine, two frames
# can have the same position while it moves.
AT_REST = f"""() => new Promise((done) => {{
  const read = {FRAME};
  let place = read();
  let [since, frames] = [performance.now(), 0];
  requestAnimationFrame(function look() {{
    const now = read();
    frames += 1;
    if (Object.keys(now).some((edge) => now[edge] !== place[edge])) [place, since, frames] = [now, performance.now(), 0];
    if (frames >= 3 && performance.now() - since > 250) return done(place);
    requestAnimationFrame(look);
  }});
}})"""
TILES_ARE_THERE = """() => {
  const canvas = document.querySelector('[data-part=tiles]');
  return !canvas.hidden && canvas.dataset.complete === "true";
}"""


class ZoomChecks(GalleryChecks):
    """Zooms by wheel, double click, keys and touch, and compares the screen pixel by pixel."""

    def test_zooming(self):
        with start_synthetic_server(count=100) as server:
            self.check_mouse(server)
            self.check_keys(server)
            self.check_giving_up_tiles(server)
            self.check_fingers(server)
            self.check_without_tiles(server)
            self.check_neighbours(server)

    def open_large(self, server, name="large.jpg", folder="large", **options):
        gallery = GalleryPage(self.browser, server, **options)
        gallery.page.goto(f"{server}/#/{folder}/{name}")
        self.wait_for_exact(gallery, name)
        return gallery

    def settle(self, gallery):
        """Waits until the motion has ended and every tile is drawn; returns the position of the image."""
        place = gallery.page.evaluate(AT_REST)
        gallery.wait(TILES_ARE_THERE)
        gallery.next_frame()
        return place

    def distance(self, gallery, place, box):
        """Returns the mean difference between the screen and the image in a box, of 255."""
        shot = Image.open(io.BytesIO(gallery.page.screenshot())).convert("RGB").crop(box)
        scale = LARGE[0] / (place["width"] * gallery.scale)
        left = round((place["left"] * gallery.scale - box[0]) * -1)
        top = round((place["top"] * gallery.scale - box[1]) * -1)
        expected = known_pixels(left, top, left + shot.width, top + shot.height, scale)
        return abs(numpy.asarray(shot, int) - numpy.asarray(expected, int)).mean()

    def check_mouse(self, server):
        gallery = self.open_large(server)
        page = gallery.page
        fitted = page.evaluate(FRAME)["width"]
        page.mouse.move(500, 400)
        point = self.point_under(gallery, 500, 400)
        page.mouse.wheel(0, -500)
        place = self.settle(gallery)
        moved = abs(numpy.array(self.point_under(gallery, 500, 400)) - point).max()
        self.check(
            "zoom: the wheel zooms in around the pointer",
            place["width"] > 2 * fitted and moved < 12,
            f"{place['width'] / fitted:.2f} times, {moved:.1f} px of the image",
        )
        off = self.distance(gallery, place, (300, 250, 900, 650))
        self.check("zoom: tiles are aligned with the image", off < 6, f"{off:.1f} of 255")
        page.keyboard.press("0")
        page.mouse.dblclick(700, 500)
        place = self.settle(gallery)
        self.check(
            "zoom: a double click shows one image pixel per device pixel",
            abs(place["width"] - LARGE[0]) < 1,
            f"{place['width']}",
        )
        off = self.distance(gallery, place, (300, 250, 900, 650))
        self.check("zoom: pixels equal the original", off < 3, f"{off:.2f} of 255")
        self.screenshot(gallery, "viewer-zoomed.png")
        page.mouse.move(700, 500)
        page.mouse.down()
        page.mouse.move(650, 460)
        page.mouse.move(600, 420)
        page.mouse.up()
        after = page.evaluate(FRAME)
        self.check(
            "zoom: dragging moves the image",
            after["left"] <= place["left"] - 99 and after["top"] <= place["top"] - 79,
        )
        asked = gallery.traffic.boxes["large.jpg"]
        self.check("zoom: the original is never loaded", None not in asked, f"{asked}")
        page.mouse.dblclick(700, 500)
        gallery.wait("!document.querySelector('.stage').classList.contains('zoomed')")
        self.check("zoom: a second double click resets the zoom", True)
        self.check_quiet(gallery, "zoom")
        gallery.close()

    def point_under(self, gallery, x, y):
        place = gallery.page.evaluate(FRAME)
        scale = LARGE[0] / place["width"]
        return (x - place["left"]) * scale, (y - place["top"]) * scale

    def check_keys(self, server):
        gallery = self.open_large(server, reduced_motion="reduce")
        page = gallery.page
        widths = [page.evaluate(FRAME)["width"]]
        for key in ("+", "+", "-"):
            page.keyboard.press(key)
            widths.append(page.evaluate(FRAME)["width"])
        self.check(
            "zoom: + and - zoom in steps, without animation for reduced motion",
            widths[0] < widths[1] < widths[2] and abs(widths[1] - widths[3]) < 1,
            f"{[round(width) for width in widths]}",
        )
        page.keyboard.press("+")
        left = page.evaluate(FRAME)["left"]
        page.keyboard.press("ArrowRight")
        name = page.inner_text("[data-part=name]")
        moved = page.evaluate(FRAME)["left"] < left
        self.check("zoom: arrow keys move the image", moved and name == "large.jpg")
        page.keyboard.press("0")
        page.keyboard.press("ArrowRight")
        self.wait_for_exact(gallery, "next.jpg")
        self.check("zoom: arrow keys change the image when it is not zoomed", True)
        self.check_quiet(gallery, "zoom by keys")
        gallery.close()

    def check_giving_up_tiles(self, server):
        gallery = self.open_large(server)
        page = gallery.page
        held = []
        page.route("**/*_files/**", lambda route: held.append(route))
        page.keyboard.press("z")
        while len(gallery.traffic.in_flight) < 6:
            gallery.next_frame()
        waiting = {request.url for request in gallery.traffic.in_flight}
        page.keyboard.press("PageDown")
        self.wait_for_exact(gallery, "next.jpg")
        given_up = waiting & set(gallery.traffic.aborted)
        self.check(
            "zoom: requests for tiles are aborted when the image changes",
            given_up == waiting,
            f"{len(given_up)} of {len(waiting)}",
        )
        for route in held:
            route.abort()
        gallery.close()

    def check_fingers(self, server):
        gallery = self.open_large(
            server, width=360, height=740, scale=3, is_mobile=True, has_touch=True
        )
        page = gallery.page
        fitted = page.evaluate(FRAME)["width"]
        touch = gallery.context.new_cdp_session(page)
        for kind, apart in (("Start", 40), ("Move", 80), ("Move", 120), ("Move", 160), ("End", 0)):
            points = [{"x": 180 + side * apart, "y": 380, "id": side + 1} for side in (-1, 1)]
            touch.send(
                "Input.dispatchTouchEvent",
                {"type": f"touch{kind}", "touchPoints": points if apart else []},
            )
        place = self.settle(gallery)
        self.check(
            "phone: pinching zooms by the ratio of the distances",
            abs(place["width"] / fitted - 4) < 0.4,
            f"{place['width'] / fitted:.2f} times",
        )
        self.check(
            "phone: the page itself is not zoomed", page.evaluate("visualViewport.scale") == 1
        )
        self.screenshot(gallery, "viewer-zoomed-phone.png")
        self.check_quiet(gallery, "phone zoom")
        gallery.close()

    def check_without_tiles(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.goto(f"{server}/#/plain/one.jpg")
        self.wait_for_exact(gallery, "one.jpg")
        fitted = page.evaluate(FRAME)["width"]
        page.mouse.move(700, 450)
        page.mouse.wheel(0, -400)
        needed = ladder_step(gallery_ladder(gallery), page.evaluate(FRAME)["width"])
        gallery.wait(
            """(step) => document.querySelector('[data-part=exact]').naturalWidth >= step""", needed
        )
        asked = gallery.traffic.boxes["one.jpg"]
        self.check(
            "zoom: without tiles a larger rendition is loaded, not the original",
            needed in asked and None not in asked and fitted < needed,
            f"{asked}",
        )
        gallery.close()

    def check_neighbours(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        gallery.open("many")
        gallery.tiles()
        names = page.evaluate(
            "Array.from(document.querySelectorAll('.tile a'), (link) => link.dataset.name)"
        )
        gallery.tile_link(10).click()
        self.wait_for_exact(gallery, names[9])

        def large(index):
            return any(side and side >= 1024 for side in gallery.traffic.boxes.get(names[index], []))

        for _ in range(2):
            page.keyboard.press("ArrowLeft")
        self.wait_for_exact(gallery, names[7])
        for _ in range(120):
            if large(6) and large(5):
                break
            gallery.next_frame()
        self.check("viewer: prefetches in the direction of navigation", large(6) and large(5))
        page.keyboard.press("ArrowLeft")
        before = len(gallery.traffic.boxes.get(names[6], []))
        self.wait_for_exact(gallery, names[6])
        after = len(gallery.traffic.boxes.get(names[6], []))
        self.check("viewer: the next image is prefetched", before == after)
        gallery.close()


def gallery_ladder(gallery):
    return gallery.page.evaluate(
        "fetch('/-/listing/plain?offset=0&limit=1').then((r) => r.json()).then((l) => l.ladder)"
    )

# SPDX-License-Identifier: Apache-2.0
"""The slideshow: order, time, the next image, keys."""

from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

COUNT, DAYS = 300, 30

# The name of the image on top.
SHOWN = "document.querySelector('#slideshow [data-part=stage] img:last-child')?.alt ?? ''"

# Whether a name is on top before a timer of the same page ends, which other work of the machine delays as much.
IS_NEXT = f"""([name, milliseconds]) => new Promise((resolve) => {{
    setTimeout(() => resolve(false), milliseconds);
    const look = () => {{ if (({SHOWN}) === name) resolve(true); }};
    new MutationObserver(look).observe(document.querySelector("#slideshow"), {{ childList: true, subtree: true }});
    look();
}})"""

WAKE_LOCK = """Object.defineProperty(navigator, "wakeLock", { value: { request: async () => {
    window.locks = (window.locks ?? 0) + 1;
    return { release: async () => { window.locks -= 1; } };
} } });"""


class SlideshowChecks(GalleryChecks):
    def test_slideshow(self):
        with start_synthetic_server(count=COUNT, days=DAYS) as server:
            self.check_order(server)
            self.check_shuffle(server)
            self.check_failures(server)
            self.check_selection(server)
            self.check_changes(server)

    def start(self, server, position, **options):
        gallery = GalleryPage(self.browser, server, **options)
        page = gallery.page
        page.add_init_script(WAKE_LOCK)
        page.add_init_script("localStorage.setItem('calotype.interval', '3')")
        page.goto(f"{server}/#all")
        names = [tile["name"] for tile in gallery.tiles()]
        gallery.tile_link(position).click()
        gallery.wait("document.querySelector('#viewer').open")
        page.keyboard.press("s")
        gallery.wait(f"({SHOWN}) !== ''")
        return gallery, names

    def wait_for(self, gallery, name):
        gallery.wait(f"(name) => ({SHOWN}) === name", name)

    def check_order(self, server):
        gallery, names = self.start(server, 2)
        page = gallery.page
        self.check("slideshow: starts with the image of the viewer", page.evaluate(SHOWN) == names[1])
        is_full = page.evaluate("document.fullscreenElement?.parentElement.id")
        self.check("slideshow: uses the full screen", is_full == "slideshow", is_full)
        self.check("slideshow: keeps the screen on", page.evaluate("window.locks") == 1)
        # Loaded and decoded while the current image is shown.
        gallery.wait("(name) => document.querySelector('#slideshow').dataset.next === name", names[2])
        is_early = page.evaluate(SHOWN) == names[1]
        self.check("slideshow: the next image is ready before it is due", is_early)
        self.check("slideshow: continues after the interval", page.evaluate(IS_NEXT, [names[2], 3500]))
        drawn = page.evaluate("document.querySelectorAll('#slideshow img').length")
        self.check("slideshow: two images fade into each other", drawn == 2, f"{drawn}")
        page.keyboard.press("Space")
        paused = page.get_attribute("#slideshow [data-part=pause]", "aria-label")
        self.check("slideshow: Space pauses", paused == "Continue", paused)
        page.keyboard.press("ArrowRight")
        self.wait_for(gallery, names[3])
        page.keyboard.press("ArrowLeft")
        self.wait_for(gallery, names[2])
        self.check("slideshow: arrow keys change the image", True)
        gallery.wait("document.querySelectorAll('#slideshow img').length === 1")
        self.screenshot(gallery, "slideshow.png")
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('#slideshow').open")
        self.wait_for_exact(gallery, names[2])
        self.check("slideshow: the viewer continues with its last image", True)
        self.check("slideshow: releases the screen", page.evaluate("window.locks") == 0)
        self.check_quiet(gallery, "slideshow")
        gallery.close()

    def check_shuffle(self, server):
        gallery, names = self.start(server, 1)
        page = gallery.page
        page.keyboard.press("Space")
        page.click("#slideshow [data-part=shuffle]")
        shown = [page.evaluate(SHOWN)]
        page.locator("#slideshow [data-part=stage]").focus()
        for _ in range(12):
            page.keyboard.press("ArrowRight")
            gallery.wait(f"(last) => ({SHOWN}) !== last", shown[-1])
            shown.append(page.evaluate(SHOWN))
        self.check("slideshow: shuffling repeats no image", len(set(shown)) == 13, f"{len(set(shown))}")
        # The probability that a shuffled order starts like this is below 1e-20.
        self.check("slideshow: shuffling changes the order", shown != names[:13], shown[:3])
        gallery.close()

    def check_failures(self, server):
        gallery = GalleryPage(self.browser, server, reduced_motion="reduce")
        page = gallery.page
        page.goto(f"{server}/#all")
        names = [tile["name"] for tile in gallery.tiles()]
        # The renditions for the window, which tiles do not request.
        page.route(
            lambda url: "/1536x1536" in url and names[1] in url,
            lambda route: route.fulfill(status=422, json={"error": "damaged"}),
        )
        gallery.tile_link(1).click()
        gallery.wait("document.querySelector('#viewer').open")
        page.click("#viewer [data-part=slideshow]")
        self.wait_for(gallery, names[0])
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
        self.wait_for(gallery, names[2])
        self.check("slideshow: images that fail are skipped", True)
        durations = page.evaluate(
            "document.getAnimations().map((animation) => animation.effect.getTiming().duration)"
        )
        self.check("slideshow: no fading for reduced motion", not any(durations), f"{durations}")
        gallery.close()

    def check_selection(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.goto(f"{server}/#all")
        names = [tile["name"] for tile in gallery.tiles()]
        for position in (2, 5):
            gallery.tile_link(position).focus()
            page.keyboard.press("Space")
        page.click("#selection [data-part=slideshow]")
        shown = []
        for name in (names[1], names[4], names[1]):
            self.wait_for(gallery, name)
            shown.append(name)
            page.keyboard.press("ArrowRight")
        self.check("slideshow: repeats the selected images", True, ", ".join(shown))
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('#slideshow').open")
        selected = page.inner_text("#selection [data-part=count]")
        self.check("slideshow: the selection stays", selected == "2 selected", selected)
        gallery.close()

    def check_changes(self, server):
        """Images are added before the current one: the slideshow and the viewer stay at it."""
        gallery, names = self.start(server, 2)
        page = gallery.page
        page.keyboard.press("Space")
        page.evaluate("fetch('/-/test/add/2026-09-25/3').then(() => null)")
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        gallery.wait("(total) => document.querySelector('.tile').ariaSetSize == total", COUNT + 3)
        gallery.wait("(name) => document.querySelector('#slideshow').dataset.next === name", names[2])
        page.keyboard.press("ArrowRight")
        self.wait_for(gallery, names[2])
        self.check("slideshow: continues with the next image after a change", True, names[2])
        page.keyboard.press("Escape")
        gallery.wait("!document.querySelector('#slideshow').open")
        self.wait_for_exact(gallery, names[2])
        position = page.inner_text("#viewer [data-part=position]")
        self.check("slideshow: the viewer shows its last image after a change", position == "6 / 303", position)
        gallery.close()

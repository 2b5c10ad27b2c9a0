# SPDX-License-Identifier: Apache-2.0
"""The information panel, the developer panel, sharing, and accessibility."""

from axe_playwright_python.sync_playwright import Axe
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

ROWS = """() => Object.fromEntries(Array.from(document.querySelectorAll("#facts dl div"), (row) =>
    [row.querySelector("dt").textContent, row.querySelector("dd").textContent]))"""
FIGURES = ROWS.replace("#facts", "#developer")

# Collects the layout shifts that the browser reports while a page loads.
OBSERVE_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const names = sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
    window.shifts.push([value, names.join(" ")]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


class PanelChecks(GalleryChecks):
    """Uses images whose information is known."""

    def test_panels(self):
        with start_synthetic_server(count=3000) as server:
            self.check_information(server)
            self.check_figures(server)
            self.check_sharing(server)
            self.check_accessibility(server)
            self.check_shifts(server)

    def check_information(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.goto(f"{server}/#/large/large.jpg")
        self.wait_for_exact(gallery, "large.jpg")
        self.check("information: hidden until it is opened", page.is_hidden("#facts"))
        page.keyboard.press("i")
        gallery.wait(f"() => 'Camera' in ({ROWS})()")
        rows = page.evaluate(ROWS)
        expected = {
            "Size": "8,000 × 6,000 · 48 MP",
            "File": "JPEG · 12.3 MB",
            "Camera": "Kamera <b>X</b>",
            "Exposure": "1/250 s · ƒ/2.8 · 35 mm · ISO 200",
            "Colours": "Display P3",
        }
        differing = {name: rows.get(name) for name, text in expected.items() if rows.get(name) != text}
        self.check("information: matches the response of the server", not differing, f"{differing}")
        self.check_quiet(gallery, "information")
        self.screenshot(gallery, "viewer-information.png")
        page.keyboard.press("ArrowRight")
        self.wait_for_exact(gallery, "next.jpg")
        rows = page.evaluate(ROWS)
        self.check(
            "information: falls back to the listing",
            set(rows) == {"Size", "Changed"} and page.inner_text("#facts h3") == "next.jpg",
            f"{rows}",
        )
        page.keyboard.press("i")
        self.check("information: the key that opens it closes it", page.is_hidden("#facts"))
        gallery.close()

    def check_figures(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.unroute_all()  # with routes, Playwright disables the browser's cache
        gallery.open("many")
        tiles = gallery.tiles()
        page.keyboard.press("d")
        step = max(tiles[0]["naturalWidth"], tiles[0]["naturalHeight"])
        gallery.wait(f"() => ({FIGURES})().LOD?.includes('{step} ×')")
        figures = page.evaluate(FIGURES)
        self.check(
            "developer panel: shows the sources of images",
            "server" in figures["Came from"] and "sharp" in figures["Tiles"],
            f"{figures['Came from']}; {figures['Tiles']}",
        )
        self.check(
            "developer panel: each tile has a label",
            page.locator(".tile a[data-label]").count() > 0,
            page.locator(".tile a[data-label]").first.get_attribute("data-label"),
        )
        self.screenshot(gallery, "developers.png")
        page.reload()
        gallery.tiles()
        page.keyboard.press("d")
        gallery.wait(f"() => ({FIGURES})()['Came from']?.includes('HTTP cache')")
        self.check("developer panel: after a reload images come from the HTTP cache", True)
        page.keyboard.press("d")
        left = page.locator(".tile a[data-label]").count()
        self.check("developer panel: closing removes all labels", left == 0 and page.is_hidden("#developer"))
        self.check_quiet(gallery, "developers")
        gallery.close()

    def check_sharing(self, server):
        gallery = GalleryPage(
            self.browser, server, permissions=["clipboard-read", "clipboard-write"]
        )
        page = gallery.page
        page.goto(f"{server}/#/large/next.jpg")
        self.wait_for_exact(gallery, "next.jpg")
        page.click("#viewer [data-part=share]")
        gallery.wait(
            "document.querySelector('[data-part=announcement]').textContent.includes('copied')"
        )
        copied = page.evaluate("navigator.clipboard.readText()")
        self.check("sharing: the URL of the image is copied, and announced", copied == page.url, copied)
        page.goto("about:blank")
        page.goto(copied)
        self.wait_for_exact(gallery, "next.jpg")
        self.check("sharing: the URL opens the image", True)
        gallery.close()

    def check_accessibility(self, server):
        axe = Axe()
        for scheme in ("light", "dark"):
            gallery = GalleryPage(self.browser, server, color_scheme=scheme)
            page = gallery.page
            gallery.open("many")
            gallery.tiles()
            self.check_axe(axe, page, f"grid, {scheme}")
            gallery.tile_link(3).click()
            gallery.wait("document.querySelector('dialog').open")
            gallery.wait("!document.querySelector('[data-part=exact]').hidden")
            self.check_axe(axe, page, f"viewer, {scheme}")
            gallery.close()
        gallery = GalleryPage(self.browser, server)
        gallery.page.goto(f"{server}/#/large/large.jpg")
        self.wait_for_exact(gallery, "large.jpg")
        gallery.page.keyboard.press("i")
        gallery.wait(f"() => 'Camera' in ({ROWS})()")
        self.check_axe(axe, gallery.page, "viewer with information")
        gallery.close()

    def check_axe(self, axe, page, what):
        violations = axe.run(page).response["violations"]
        violated = [
            f"{found['id']}: {found['nodes'][0]['html'][:90]}" for found in violations
        ]
        self.check(f"axe: no violation in the {what}", not violated, "; ".join(violated))

    def check_shifts(self, server):
        gallery = GalleryPage(self.browser, server)
        gallery.page.add_init_script(OBSERVE_SHIFTS)
        gallery.open("many")
        gallery.tiles()
        for _ in range(4):
            gallery.page.evaluate("scrollBy({ top: innerHeight / 2, behavior: 'instant' })")
            gallery.tiles()
        shifts = gallery.page.evaluate("window.shifts")
        total = sum(value for value, _ in shifts)
        self.check(
            "layout: no shift while images load", total < 0.01, f"{total:.4f} {shifts[:3]}"
        )
        gallery.close()

# SPDX-License-Identifier: Apache-2.0
"""Information, developers' figures, addresses to share, and what assistive technology finds."""

from axe_playwright_python.sync_playwright import Axe
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

ROWS = """() => Object.fromEntries(Array.from(document.querySelectorAll("#facts dl div"), (row) =>
    [row.querySelector("dt").textContent, row.querySelector("dd").textContent]))"""
FIGURES = ROWS.replace("#facts", "#developer")

# Sums up what moves while a page comes up, as the browser itself measures it.
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
    """On pictures whose information is known."""

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
        self.check("information: not asked for before somebody wants it", page.is_hidden("#facts"))
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
        self.check("information: told as the server knows it", not differing, f"{differing}")
        self.check_quiet(gallery, "information")
        self.screenshot(gallery, "viewer-information.png")
        page.keyboard.press("ArrowRight")
        self.wait_for_exact(gallery, "next.jpg")
        rows = page.evaluate(ROWS)
        self.check(
            "information: where the server has none, the listing's is shown",
            set(rows) == {"Size", "Changed"} and page.inner_text("#facts h3") == "next.jpg",
            f"{rows}",
        )
        page.keyboard.press("i")
        self.check("information: closes as it opened", page.is_hidden("#facts"))
        gallery.close()

    def check_figures(self, server):
        gallery = GalleryPage(self.browser, server)
        page = gallery.page
        page.unroute_all()  # with routes Playwright turns the browser's cache off
        gallery.open("many")
        tiles = gallery.tiles()
        page.keyboard.press("d")
        step = max(tiles[0]["naturalWidth"], tiles[0]["naturalHeight"])
        gallery.wait(f"() => ({FIGURES})().LOD?.includes('{step} ×')")
        figures = page.evaluate(FIGURES)
        self.check(
            "developers: figures tell where pictures came from",
            "server" in figures["Came from"] and "sharp" in figures["Tiles"],
            f"{figures['Came from']}; {figures['Tiles']}",
        )
        self.check(
            "developers: so does each tile",
            page.locator(".tile a[data-label]").count() > 0,
            page.locator(".tile a[data-label]").first.get_attribute("data-label"),
        )
        self.screenshot(gallery, "developers.png")
        page.reload()
        gallery.tiles()
        page.keyboard.press("d")
        gallery.wait(f"() => ({FIGURES})()['Came from']?.includes('HTTP cache')")
        self.check("developers: after a reload they come from the browser's cache", True)
        page.keyboard.press("d")
        left = page.locator(".tile a[data-label]").count()
        self.check("developers: closing leaves nothing behind", left == 0 and page.is_hidden("#developer"))
        self.check_quiet(gallery, "developers")
        gallery.close()

    def check_sharing(self, server):
        gallery = GalleryPage(
            self.browser, server, permissions=["clipboard-read", "clipboard-write"]
        )
        page = gallery.page
        page.goto(f"{server}/#/large/next.jpg")
        self.wait_for_exact(gallery, "next.jpg")
        page.click("[data-part=share]")
        gallery.wait(
            "document.querySelector('[data-part=announcement]').textContent.includes('copied')"
        )
        copied = page.evaluate("navigator.clipboard.readText()")
        self.check("sharing: the picture's address is copied, and said so", copied == page.url, copied)
        page.goto("about:blank")
        page.goto(copied)
        self.wait_for_exact(gallery, "next.jpg")
        self.check("sharing: the address leads to the picture", True)
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
        told = [
            f"{found['id']}: {found['nodes'][0]['html'][:90]}" for found in violations
        ]
        self.check(f"axe: nothing is found in the {what}", not told, "; ".join(told))

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
            "layout: nothing shifts while pictures come", total < 0.01, f"{total:.4f} {shifts[:3]}"
        )
        gallery.close()

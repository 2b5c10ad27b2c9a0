# SPDX-License-Identifier: Apache-2.0
"""The page as an app: manifest, service worker, two languages, accessibility, screenshots."""

import json
import re
import shutil
import urllib.request

import pytest
from axe_playwright_python.sync_playwright import Axe
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server
from synthetic_server import PAGE

COUNT, DAYS = 2000, 100
SCREENS = {
    # German words are longer.
    "narrow": {"width": 320, "height": 568, "is_mobile": True, "has_touch": True, "locale": "de-DE"},
    "phone": {"width": 390, "height": 844, "scale": 2, "is_mobile": True, "has_touch": True},
    "tablet": {"width": 768, "height": 1024, "scale": 1, "has_touch": True},
    "desktop": {"width": 1440, "height": 900},
}


class AppChecks(GalleryChecks):
    def test_app(self, tmp_path):
        self.check_strings()
        with start_synthetic_server(count=COUNT, days=DAYS) as server:
            self.check_manifest(server)
            self.check_german(server)
            self.check_screens(server, "narrow-light", color_scheme="light", **SCREENS["narrow"])
            self.check_screens(server, "phone-dark", color_scheme="dark", **SCREENS["phone"])
            self.check_screens(server, "tablet-light", color_scheme="light", **SCREENS["tablet"])
            self.check_screens(server, "desktop-light", color_scheme="light", **SCREENS["desktop"])
        self.check_service_worker(tmp_path / "page")

    @pytest.mark.deep
    def test_app_screens(self):
        with start_synthetic_server(count=COUNT, days=DAYS) as server:
            for name, screen in SCREENS.items():
                for scheme in ("light", "dark"):
                    self.check_screens(server, f"{name}-{scheme}", color_scheme=scheme, **screen)

    def open_timeline(self, server, **options):
        gallery = GalleryPage(self.browser, server, **options)
        gallery.page.goto(f"{server}/#all")
        gallery.tiles()
        return gallery

    def check_strings(self):
        """Each text is used, and each used text exists, in both languages."""
        known = dict(re.findall(r"^  (\w+): \[(.*?)\],\n", (PAGE / "strings.js").read_text(), re.M | re.S))
        sources = [p for p in PAGE.iterdir() if p.suffix in (".js", ".html") and p.name != "strings.js"]
        text = "".join(path.read_text() for path in sources)
        named = set(re.findall(r"""(?:\bt|counted)\("(\w+)\"""", text))
        named |= set(re.findall(r'data-t(?:-\w+)?="(\w+)"', text))
        self.check("strings: every used text exists", named <= set(known), named - set(known))
        unused = [key for key in known if f'"{key}"' not in text]
        self.check("strings: every text is used", not unused, unused)
        markup = (PAGE / "index.html").read_text().split("<body>")[1].split("<noscript>")[0]
        literal = [text for text in re.findall(r">([^<]*)<", markup) if re.search(r"\w", text)]
        literal += re.findall(r'(?<![-\w])(?:aria-label|title|placeholder|alt)="([^"]+)"', markup)
        self.check("strings: the document contains no text", not literal, literal)

    def check_manifest(self, server):
        with urllib.request.urlopen(f"{server}/-/gallery/manifest.webmanifest") as response:
            manifest = json.load(response)
        for icon in manifest["icons"]:
            with urllib.request.urlopen(f"{server}{icon['src']}") as response:
                self.check(f"manifest: the icon exists ({icon['purpose']})", response.status == 200)
        gallery = self.open_timeline(server)
        errors = gallery.context.new_cdp_session(gallery.page).send("Page.getAppManifest")["errors"]
        self.check("manifest: the browser reads it without an error", not errors, errors)
        gallery.close()

    def check_german(self, server):
        gallery = self.open_timeline(server, locale="de-AT")
        page = gallery.page
        language = page.get_attribute("html", "lang")
        self.check("German: the title and the language", page.inner_text("#title") == "Alle Fotos", language)
        summary = page.inner_text("#summary")
        self.check("German: numbers", summary == "2.000 Bilder", summary)
        day = page.inner_text(".day h2")
        self.check("German: dates", day == "Mo., 21. September 2026", day)
        page.goto(f"{server}/#/large/large.jpg")
        self.wait_for_exact(gallery, "large.jpg")
        page.keyboard.press("i")
        gallery.wait("document.querySelector('#facts dl').textContent.includes('35 mm')")
        facts = page.inner_text("#facts dl")
        self.check("German: decimals", "12,3 MB" in facts and "ƒ/2,8" in facts, facts)
        self.check_quiet(gallery, "German")
        gallery.close()
        gallery = self.open_timeline(server, locale="fr-FR")
        title = gallery.page.inner_text("#title")
        self.check("languages: English for other languages", title == "All photos", title)
        gallery.close()

    def check_screens(self, server, name, **options):
        """Checks the states of the page with axe, and stores a screenshot of each."""
        gallery = self.open_timeline(server, **options)
        page = gallery.page

        def check(state):
            gallery.wait("document.getAnimations().every((animation) => animation.playState !== 'running')")
            self.screenshot(gallery, f"{state}-{name}.png")
            violations = Axe().run(page).response["violations"]
            violated = [f"{found['id']}: {found['nodes'][0]['html'][:90]}" for found in violations]
            self.check(f"axe: no violation in {state}, {name}", not violated, "; ".join(violated))
            # The inner width of a phone grows with the page.
            wider = page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"]
            self.check(f"{state}, {name}: fits the window", wider <= 0, f"{wider} px")

        check("timeline")
        for position in (2, 3):
            gallery.tile_link(position).focus()
            page.keyboard.press("Space")
        page.wait_for_selector("#selection:not([hidden])")
        check("selection")
        page.keyboard.press("Escape")
        page.focus("#search input")
        page.keyboard.type("ca")
        page.wait_for_selector("#completions li")
        check("search")
        page.fill("#search input", "nothing at all")
        page.wait_for_selector("#message:not([hidden])")
        check("nothing-found")
        # With the focus, the field of a phone covers the bar.
        page.evaluate("document.activeElement.blur()")
        gallery.open("tree")
        page.wait_for_selector("#cards .cover[style]")
        check("folders")
        cut = page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#path'))")
        self.check(f"folders, {name}: the path is not cut", cut <= 0, f"{cut} px")
        page.goto(f"{server}/#all")
        gallery.tiles()
        gallery.tile_link(1).click()
        gallery.wait("!document.querySelector('[data-part=exact]').hidden")
        check("viewer")
        page.keyboard.press("s")
        gallery.wait("document.querySelector('#slideshow img') !== null")
        page.keyboard.press("Space")
        check("slideshow")
        self.check_quiet(gallery, name)
        gallery.close()

    def check_service_worker(self, folder):
        """The page starts without the server, and has the new files after an update."""
        shutil.copytree(PAGE, folder)
        with start_synthetic_server(count=100, page=folder) as server:
            gallery = GalleryPage(self.browser, server, service_workers="allow")
            page = gallery.page
            page.unroute_all()
            page.goto(f"{server}/#/many/")
            page.evaluate("navigator.serviceWorker.ready.then(() => null)")
            gallery.wait("navigator.serviceWorker.controller !== null")
            page.reload()
            gallery.tiles()
            stored = page.evaluate("""async () => {
                const names = await caches.keys();
                const cache = await caches.open(names[0]);
                return (await cache.keys()).map(({ url }) => new URL(url).pathname);
            }""")
            files = set(re.findall(r'"(/-/gallery/[^"]+[.](?:js|css))"', (folder / "index.html").read_text()))
            missing = files - set(stored)
            self.check("service worker: keeps the files of the page", not missing, missing)
            others = [path for path in stored if path != "/" and not path.startswith("/-/gallery/")]
            self.check("service worker: keeps nothing else", not others, others)
            strings = folder / "strings.js"
            strings.write_text(strings.read_text().replace('"All photos"', '"Every photo"'))
            page.reload()
            gallery.tiles()
            link = page.inner_text("#views a")
            self.check("service worker: a load after an update has the new files", link == "Every photo", link)
            storage = gallery.context.new_cdp_session(page)
            storage.send("Storage.overrideQuotaForOrigin", {"origin": server, "quotaSize": 1})
            original = strings.read_text()
            strings.write_text(original.replace('"Every photo"', '"Full"'))
            page.reload()
            gallery.tiles()
            link = page.inner_text("#views a")
            self.check("service worker: works without space for the files", link == "Full", link)
            storage.send("Storage.overrideQuotaForOrigin", {"origin": server})
            strings.write_text(original)
            page.reload()
            gallery.tiles()
        page.reload()
        page.wait_for_selector("#banner:not([hidden])")
        link = page.text_content("#views a span")
        self.check("service worker: the page starts without the server", link == "Every photo", link)
        gallery.close()

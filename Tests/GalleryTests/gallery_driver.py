# SPDX-License-Identifier: Apache-2.0
"""Drives the gallery page in a browser, and computes the requests that it should send."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time
import urllib.request
from urllib.parse import quote, unquote, urlsplit

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types calotype-worker"
)
LIBRARY_STATUS = "/-/library/status"
TIMEOUT = 60_000  # ms; a server may make each rendition for the first time

# The tiles that overlap the window, with their contents.
VISIBLE_TILES = """() => [...document.querySelectorAll(".tile")].flatMap((tile) => {
  const { left, top, width, height, bottom } = tile.getBoundingClientRect();
  if (bottom <= 0 || top >= innerHeight) return [];
  const image = tile.querySelector("img");
  return [{
    name: tile.querySelector("a").dataset.name, left, top, width, height,
    position: Number(tile.getAttribute("aria-posinset")),
    failed: tile.classList.contains("failed"), text: tile.innerText,
    loaded: tile.classList.contains("loaded"),
    naturalWidth: image?.naturalWidth ?? 0, naturalHeight: image?.naturalHeight ?? 0,
  }];
})"""

# The days are shown with the whole timeline, after the newest images.
VISIBLE_TILES_ARE_DONE = f"""() => {{
  const tiles = ({VISIBLE_TILES})();
  const isWhole = document.querySelector(".in-timeline") === null || document.querySelector(".day") !== null;
  return tiles.length > 0 && isWhole
    && tiles.every((tile) => tile.failed || (tile.loaded && tile.naturalWidth > 0));
}}"""


def fetch_listing(server, folder):
    """Returns the complete listing of a folder: all pages joined."""
    path = "/".join(quote(segment, safe="") for segment in folder.split("/"))
    listing, offset = None, 0
    while offset is not None:
        with urllib.request.urlopen(
            f"{server}/-/listing/{path}?offset={offset}&limit=5000"
        ) as response:
            page = json.load(response)
        errors = {int(key) + offset: why for key, why in page["pictures"].get("error", {}).items()}
        if listing is None:
            listing = page
            listing["pictures"]["error"] = errors
        else:
            for column in ("name", "width", "height", "modified", "version"):
                listing["pictures"][column] += page["pictures"][column]
            listing["pictures"]["error"].update(errors)
        offset = page["next"]
    return listing


def find_folders(server, most=60):
    """Returns the folder with the most images, and a folder that contains folders; None if absent."""
    fullest, fullest_count, parent = None, 0, None
    waiting = [""]
    seen = 0
    while waiting and seen < most:
        folder = waiting.pop(0)
        seen += 1
        path = "/".join(quote(segment, safe="") for segment in folder.split("/"))
        with urllib.request.urlopen(f"{server}/-/listing/{path}?offset=0&limit=1") as response:
            page = json.load(response)
        if page["total"] > fullest_count:
            fullest, fullest_count = folder, page["total"]
        inside = page["folders"]["name"]
        if inside and parent is None:
            parent = folder
        waiting += [f"{folder}/{name}" if folder else name for name in inside]
    return fullest, parent


class ServedFolder:
    """The folder with the most images, and a folder that contains folders, or none."""

    def __init__(self, server):
        self.path, self.parent = find_folders(server)
        if self.path is None:
            raise AssertionError("the server has no images")
        self.listing = fetch_listing(server, self.path)
        self.names = self.listing["pictures"]["name"]
        self.total = self.listing["total"]


@contextlib.contextmanager
def start_synthetic_server(**options):
    """Runs `synthetic_server.py`; yields its URL."""
    script = pathlib.Path(__file__).parent / "synthetic_server.py"
    arguments = [f"--{name}={value}" for name, value in options.items()]
    server = subprocess.Popen(
        [sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


def folder_hash(folder):
    segments = [quote(segment, safe="") for segment in folder.split("/") if segment]
    return "#/" + "".join(segment + "/" for segment in segments)


def ladder_step(ladder, side):
    """Returns the smallest step of at least `side` device pixels; None means the original."""
    return next((step for step in ladder if step >= side - 0.01), None)


class Traffic:
    """The requests of a page, and its errors."""

    def __init__(self, page):
        self.troubles = []
        self.aborted = []
        self.boxes = {}  # image name -> requested sides; None is the original
        self.in_flight = set()
        self.most_in_flight = 0
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("requestfinished", lambda request: self.in_flight.discard(request))
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def _console(self, message):
        # The page checks whether the server has an index of the library.
        if urlsplit(message.location["url"]).path == LIBRARY_STATUS:
            return
        if "registration blocked by Playwright" in message.text:
            return
        if message.type in ("error", "warning"):
            self.troubles.append(f"console {message.type}: {message.text}")

    def _request(self, request):
        path = urlsplit(request.url).path
        if request.url.startswith("blob:") or path == "/" or path.startswith("/-/"):
            return
        segments = [unquote(segment) for segment in path[1:].split("/")]
        box = segments[-2].removesuffix(",still").split("x") if len(segments) > 1 else []
        is_box = len(box) == 2 and box[0].isdigit() and box[1].isdigit()
        if is_box and box[0] != box[1]:
            self.troubles.append(f"not a square box: {path}")
        self.boxes.setdefault(segments[-1], []).append(int(box[0]) if is_box else None)
        self.in_flight.add(request)
        self.most_in_flight = max(self.most_in_flight, len(self.in_flight))

    def _failed(self, request):
        self.in_flight.discard(request)
        # The page cancels requests of tiles that left the screen.
        if "ERR_ABORTED" in (request.failure or ""):
            self.aborted.append(request.url)
        else:
            self.troubles.append(f"failed: {request.url} {request.failure}")

    def _response(self, response):
        is_check = urlsplit(response.url).path == LIBRARY_STATUS and response.status == 404
        if response.status >= 400 and not is_check:
            self.troubles.append(f"status {response.status}: {response.url}")


class GalleryPage:
    """The page in a new browser context, under the strictest content security policy."""

    def __init__(self, browser, server, width=1440, height=900, scale=1, **options):
        self.server = server
        self.scale = scale
        # The driver does not see requests of a service worker.
        options = {"service_workers": "block"} | options
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=scale, **options
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(TIMEOUT)
        self.page.route(lambda url: urlsplit(url).path == "/", self._with_policy)
        self.traffic = Traffic(self.page)

    def _with_policy(self, route):
        response = route.fetch()
        route.fulfill(
            response=response, headers={**response.headers, "content-security-policy": POLICY}
        )

    def open(self, folder):
        self.page.goto(f"{self.server}/{folder_hash(folder)}")

    def wait(self, condition, argument=None):
        """Waits until a condition in the page holds; evaluates it once per frame.

        Playwright's `wait_for_function` evaluates strings inside the page, which the policy forbids.
        """
        deadline = time.monotonic() + TIMEOUT / 1000
        while not self.page.evaluate(condition, argument):
            if time.monotonic() > deadline:
                raise TimeoutError(f"timeout: {' '.join(condition.split())}")
            self.next_frame()

    def next_frame(self):
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => done()))")

    def tiles(self):
        """Returns the visible tiles, once each has its image or an error message."""
        self.wait(VISIBLE_TILES_ARE_DONE)
        return self.page.evaluate(VISIBLE_TILES)

    def visible_tiles(self):
        return self.page.evaluate(VISIBLE_TILES)

    def tile_count(self):
        return self.page.evaluate("document.querySelectorAll('.tile').length")

    def tile_link(self, position):
        return self.page.locator(f".tile[aria-posinset='{position}'] a")

    def focused_position(self):
        """Returns the position of the focused tile, or None."""
        return self.page.evaluate(
            "Number(document.activeElement.closest('.tile')?.ariaPosInSet) || null"
        )

    def expected_step(self, listing, tile):
        """Returns the step of the ladder for a tile; a cropped image is larger than its tile."""
        index = tile["position"] - 1
        aspect = listing["pictures"]["width"][index] / listing["pictures"]["height"][index]
        width, height = tile["width"], tile["height"]
        side = max(width, height)
        # Rounding to pixels changes a tile by at most one; a larger difference is a crop.
        if height * aspect - width > aspect + 1.5:
            side = height * aspect
        elif width / aspect - height > 1 / aspect + 1.5:
            side = width / aspect
        return ladder_step(listing["ladder"], side * self.scale)

    def close(self):
        self.context.close()

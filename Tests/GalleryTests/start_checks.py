# SPDX-License-Identifier: Apache-2.0
"""The time from the start of the server to the first images of the timeline, with an index of many files."""

import os
import pathlib
import statistics
import sys
import time
import urllib.request

import pytest
from calotype_server import CheckedServer
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage
from small_photos import small_photos

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Benchmarks"))
import library

COUNT = int(os.environ.get("CALOTYPE_START_COUNT", "100000"))
# Further names of a file are hard links, which the server reads once.
DISTINCT = COUNT // 20
STARTS = 7
MOST_MILLISECONDS = 300

# Records when the first and all visible tiles show their images, in milliseconds since 1970. It does not force a layout
# before there is one.
RECORD = """(() => {
  const now = () => performance.timeOrigin + performance.now();
  window.shown = { first: null, all: null };
  requestAnimationFrame(function look() {
    if (window.shown.all === null) requestAnimationFrame(look);
    if (document.querySelector(".tile.loaded") === null) return;
    const tiles = [...document.querySelectorAll(".tile")].filter((tile) => {
      const { top, bottom } = tile.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    const loaded = tiles.filter((tile) => tile.classList.contains("loaded"));
    if (loaded.length > 0) window.shown.first ??= now();
    if (tiles.length > 0 && loaded.length === tiles.length) window.shown.all ??= now();
  });
})()"""

# The browser needs processor time for some frames after it has opened a page, which is not part of the start.
REST = """() => new Promise((done) => {
  let frames = 60;
  requestAnimationFrame(function next() { if (--frames > 0) requestAnimationFrame(next); else done(); });
})"""

# The ends of the responses that the first images wait for, and the numbers above.
READ = """() => {
  const end = (name) => performance.timeOrigin
    + Math.min(...performance.getEntriesByType("resource")
      .filter((entry) => entry.name.includes(name)).map((entry) => entry.responseEnd));
  return { timeline: end("/-/library/timeline"), images: end("/-/library/images"), ...window.shown };
}"""


class StartChecks(GalleryChecks):
    """Starts the server again and again, with one cache."""

    @pytest.mark.deep
    def test_start(self, request, tmp_path):
        program = request.config.getoption("--calotype")
        if not program:
            self.skip("--calotype is required")
        library.make(str(tmp_path / "photos"), COUNT, DISTINCT, small_photos())
        self.program, self.photos, self.cache = program, tmp_path / "photos", tmp_path / "cache"
        with CheckedServer(program, self.photos, self.cache) as server:
            seconds = self.wait_until_complete(server.url)
        print(f"{COUNT:,} images are indexed in {seconds:.0f} s", flush=True)
        # The first start makes the renditions of the first screen, the others find them in the cache.
        self.report("without renditions", [self.start()])
        starts = [self.start() for _ in range(STARTS)]
        self.report("with renditions", starts)
        first = statistics.median(start["first"] for start in starts)
        self.check_time(
            f"start: the first images of {COUNT:,} are shown within {MOST_MILLISECONDS} ms",
            first <= MOST_MILLISECONDS, f"median {first:.0f} ms")

    def start(self):
        """Returns the milliseconds from the start of the process to each step."""
        gallery = GalleryPage(self.browser, "")
        gallery.page.unroute_all()
        gallery.page.add_init_script(RECORD)
        gallery.page.evaluate(REST)
        started = time.time() * 1000
        with CheckedServer(self.program, self.photos, self.cache) as server:
            listening = time.time() * 1000
            gallery.page.goto(f"{server.url}/#all", wait_until="commit")
            gallery.wait("window.shown?.all")
            times = {"listening": listening} | gallery.page.evaluate(READ)
            # On a busy machine the times depend on other programs, this one does not.
            processor = server.processor_seconds_with_workers() * 1000
            self.check_quiet(gallery, "start")
            gallery.close()
        return {step: at - started for step, at in times.items()} | {"processor time": processor}

    def report(self, what, starts):
        steps = (
            f"{step} {statistics.median(start[step] for start in starts):.0f}"
            f" ({max(start[step] for start in starts):.0f})" for step in starts[0])
        print(f"start, {what}: median (worst) ms: {', '.join(steps)}", flush=True)

    def wait_until_complete(self, url):
        started = time.monotonic()
        while True:
            with urllib.request.urlopen(f"{url}/-/library/status") as response:
                if b'"complete"' in response.read():
                    return time.monotonic() - started
            time.sleep(0.5)

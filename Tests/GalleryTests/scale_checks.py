# SPDX-License-Identifier: Apache-2.0
"""A folder of 100,000 images and a timeline of 1,000,000, scrolled from one end to the other."""

import json
from collections import defaultdict

import pytest
from gallery_checks import GalleryChecks
from gallery_driver import GalleryPage, start_synthetic_server

COUNT = 100_000
LIBRARY = 1_000_000
FLINGS = 10
SLOWDOWN = 4
MOST_ELEMENTS = 300
STEP_COUNT = 120

# Scrolls over the whole page in some seconds, slowly at both ends. Records the time of every frame and the
# maximum number of elements in the grid.
FLING = """([start, end, milliseconds]) => new Promise((done) => {
  const range = document.documentElement.scrollHeight - innerHeight;
  const frames = [];
  let most = 0;
  let last = null;
  const began = performance.now();
  requestAnimationFrame(function step(now) {
    if (last !== null) frames.push(now - last);
    last = now;
    most = Math.max(most, document.querySelectorAll("#grid *").length);
    const share = Math.min(1, (now - began) / milliseconds);
    const eased = share * share * (3 - 2 * share);
    scrollTo({ top: range * (start + (end - start) * eased), behavior: "instant" });
    if (share < 1) return requestAnimationFrame(step);
    done({ frames, most, at: performance.now() });
  });
})"""

# Scrolls over a part of the page in a number of frames, so that the work does not depend on the machine.
STEPS = """([start, end, count]) => new Promise((done) => {
  const range = document.documentElement.scrollHeight - innerHeight;
  let frame = 0;
  requestAnimationFrame(function step() {
    frame += 1;
    scrollTo({ top: range * (start + (end - start) * frame / count), behavior: "instant" });
    if (frame < count) return requestAnimationFrame(step);
    done();
  });
})"""

# Returns the milliseconds from a time until every visible image is sharp.
SHARP = """(since) => new Promise((done) => {
  requestAnimationFrame(function look() {
    const images = [...document.querySelectorAll(".tile img")].filter((image) => {
      const { top, bottom } = image.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    const isSharp = (image) => image.closest(".loaded")
      && Math.max(image.naturalWidth, image.naturalHeight)
        >= Math.max(image.clientWidth, image.clientHeight) * devicePixelRatio - 1;
    const elapsed = performance.now() - since;
    if (images.length > 0 && images.every(isSharp)) return done(elapsed);
    if (elapsed > 20000) return done(Infinity);
    requestAnimationFrame(look);
  });
})"""

# Scrolls to a share of the page; returns the milliseconds until every visible tile has its properties.
JUMP = """(share) => new Promise((done) => {
  const range = document.documentElement.scrollHeight - innerHeight;
  const start = performance.now();
  scrollTo({ top: range * share, behavior: "instant" });
  requestAnimationFrame(function look() {
    const links = [...document.querySelectorAll(".tile a")].filter((link) => {
      const { top, bottom } = link.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    });
    const elapsed = performance.now() - start;
    if (links.length > 0 && links.every((link) => link.href !== "")) return done(elapsed);
    if (elapsed > 20000) return done(Infinity);
    requestAnimationFrame(look);
  });
})"""


class ScaleChecks(GalleryChecks):
    """Checks that elements, memory and frame times do not grow with the folder."""

    @pytest.mark.deep
    def test_scale(self):
        with start_synthetic_server(count=COUNT) as server:
            gallery = GalleryPage(self.browser, server)
            # Interception by the driver would take longer than the server.
            gallery.page.unroute_all()
            gallery.open("many")
            gallery.tiles()
            gallery.wait("document.documentElement.scrollHeight > 3_000_000")
            memory = gallery.context.new_cdp_session(gallery.page)
            frames, most, sharp, heaps = [], 0, [], []
            for number in range(FLINGS):
                ends = [0, 1] if number % 2 == 0 else [1, 0]
                fling = gallery.page.evaluate(FLING, [*ends, 3000])
                sharp.append(gallery.page.evaluate(SHARP, fling["at"]))
                frames += fling["frames"]
                most = max(most, fling["most"])
                memory.send("HeapProfiler.collectGarbage")
                heaps.append(memory.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
            self.check(
                f"scale: at most {MOST_ELEMENTS} elements in the grid of {COUNT:,} images",
                most <= MOST_ELEMENTS,
                f"{most}",
            )
            self.check(
                f"scale: memory does not grow over {FLINGS} flings",
                heaps[-1] < heaps[2] * 1.1 + 1,
                ", ".join(f"{heap:.1f}" for heap in heaps) + " MB",
            )
            self.check_frames(frames, sharp)
            self.check_work(gallery)
            self.check_quiet(gallery, "scale")
            gallery.close()

    @pytest.mark.deep
    def test_timeline_scale(self):
        with start_synthetic_server(count=LIBRARY) as server:
            gallery = GalleryPage(self.browser, server)
            gallery.page.unroute_all()
            devtools = gallery.context.new_cdp_session(gallery.page)
            gallery.page.goto(f"{server}/#all")
            gallery.tiles()
            self.check_layout_time(gallery)
            # The server computes the placeholders of its 1000 originals once, which must not be measured.
            for offset in (0, 500):
                gallery.page.evaluate(
                    "(offset) => fetch(`/-/library/images?offset=${offset}&limit=500`).then((r) => r.text())",
                    offset,
                )
            devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
            frames, sharp, most = [], [], 0
            for start, end in ((0, 0.001), (0.001, 0), (0, 1), (1, 0)):
                fling = gallery.page.evaluate(FLING, [start, end, 3000])
                sharp.append(gallery.page.evaluate(SHARP, fling["at"]))
                frames += fling["frames"]
                most = max(most, fling["most"])
            devtools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
            for speed, end in (("slow", 0.0006), ("fast", 0.9)):
                self.check_work(
                    gallery, STEPS, [0, end, STEP_COUNT], f"timeline, {speed}", 16.7 / SLOWDOWN)
            self.check_frames(frames, sharp, f"timeline of {LIBRARY:,}, CPU slowed {SLOWDOWN}×", 1500)
            self.check("scale: the timeline has few elements", most <= 2 * MOST_ELEMENTS, f"{most}")
            jumps = [gallery.page.evaluate(JUMP, share) for share in (0.5, 0.13, 0.97, 0.31, 0.77, 0.02)]
            self.check(
                "scale: a jump in the timeline shows its images",
                max(jumps) <= (150 if self.is_quiet else 15000),
                ", ".join(f"{milliseconds:.0f}" for milliseconds in jumps) + " ms",
            )
            self.check_passing_tiles(gallery, "scale of the timeline", 4_000_000)
            devtools.send("HeapProfiler.collectGarbage")
            usage = devtools.send("Runtime.getHeapUsage")
            names = ("usedSize", "embedderHeapUsedSize", "backingStorageSize")
            megabytes = sum(usage[name] for name in names) / 1e6
            self.check("scale: memory of the timeline", megabytes <= 150, f"{megabytes:.1f} MB")
            self.check_quiet(gallery, "scale of the timeline")
            gallery.close()

    def check_layout_time(self, gallery):
        times = gallery.page.evaluate("""async () => {
            const { justifiedRows } = await import("/-/gallery/layout.js");
            const { Timeline } = await import("/-/gallery/timeline.js");
            const answer = await (await fetch("/-/library/timeline")).json();
            return Array.from({ length: 5 }, () => {
                const start = performance.now();
                const timeline = Timeline.from(answer, "");
                justifiedRows(timeline.aspects, 1364, 204, 6, timeline.sections);
                return performance.now() - start;
            }).sort((one, other) => one - other);
        }""")
        detail = f"median {times[2]:.0f} ms, worst {times[4]:.0f} ms"
        self.check(
            f"scale: {LIBRARY:,} images are laid out", times[2] <= (100 if self.is_quiet else 1000), detail
        )

    def check_frames(self, frames, sharp, what="folder", latest=400):
        late = sum(frame > 17.5 for frame in frames) / len(frames)
        detail = (
            f"{len(frames)} frames, median {sorted(frames)[len(frames) // 2]:.1f} ms, "
            f"{100 * late:.1f} % late, worst {max(frames):.1f} ms"
        )
        is_smooth = max(frames) <= 50 and late <= 0.05
        self.check_time(f"scale: frames are on time ({what})", is_smooth, detail)
        detail = ", ".join(f"{milliseconds:.0f}" for milliseconds in sharp) + " ms"
        self.check(
            f"scale: all images become sharp at rest ({what})", max(sharp) <= (latest if self.is_quiet else 15000), detail
        )

    def check_work(self, gallery, scroll=FLING, argument=(0, 1, 3000), what="folder", most=16.7):
        """Measures the CPU time of the page per frame, which excludes other work of the machine."""
        self.browser.start_tracing(page=gallery.page, categories=["toplevel", "devtools.timeline"])
        gallery.page.evaluate(scroll, list(argument))
        events = json.loads(self.browser.stop_tracing())["traceEvents"]
        work = main_thread_work(events)
        if not work:
            return self.skip_check(f"scale: work of frames ({what})", "the browser reports no thread times")
        late = sum(milliseconds > most for milliseconds in work) / len(work)
        work.sort()
        self.check_time(
            f"scale: the work of the page leaves time in each frame ({what})",
            work[-1] <= 3 * most and late <= 0.05,
            f"median {work[len(work) // 2]:.1f} ms, mean {sum(work) / len(work):.2f} ms, worst {work[-1]:.1f} ms "
            f"of CPU time, {100 * late:.1f} % above {most:.1f} ms, {len(work)} frames",
        )


def main_thread_work(events):
    """Returns the CPU time, in milliseconds, of each task in which the page produced a frame."""
    is_main = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    frames = defaultdict(list)
    for event in events:
        thread = (event.get("pid"), event.get("tid"))
        if thread in is_main and event.get("name") == "FireAnimationFrame":
            frames[thread].append(event["ts"])
    if not frames:
        return []
    thread = max(frames, key=lambda key: len(frames[key]))
    tasks = [
        event
        for event in events
        if (event.get("pid"), event.get("tid")) == thread
        and event.get("name") == "ThreadControllerImpl::RunTask"
        and "tdur" in event
    ]
    return [
        task["tdur"] / 1000
        for task in tasks
        if any(task["ts"] <= start <= task["ts"] + task["dur"] for start in frames[thread])
    ]

// SPDX-License-Identifier: Apache-2.0

import { byteCount, element, number } from "./text.js";

/** Frames whose times are shown. */
const FRAMES = 120;
const REDRAWN_EVERY = 250; // ms
const MOST_ORIGINS = 2000;

/**
 * Shows statistics of the page: steps of the ladder, sources of images, queues, frames.
 *
 * Collects nothing while it is closed.
 */
export class DeveloperPanel {
  #element;
  #rows = new Map();
  #chart;
  #parts;
  #times = new Float64Array(FRAMES);
  #count = 0;
  #last = 0;
  #frame = 0;
  #timer = 0;
  #origins = new Map();
  #observer = new PerformanceObserver((list) => this.#fetched(list.getEntries()));
  #dialog;

  /**
   * @param {HTMLElement} element a popover with a canvas and a list
   * @param {HTMLDialogElement} dialog a dialog that it also covers
   * @param {() => object} parts returns the `statistics` of the grid, the loader and the viewer
   */
  constructor(element, dialog, parts) {
    this.#element = element;
    this.#chart = element.querySelector("canvas");
    this.#dialog = dialog;
    this.#parts = parts;
    document.addEventListener("keydown", (event) => {
      if (event.key !== "d" || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.target.closest?.("input[type=text], textarea, select") === null) this.toggle();
    });
  }

  get isOpen() {
    return this.#frame !== 0;
  }

  toggle() {
    if (this.isOpen) {
      this.#element.hidePopover();
      cancelAnimationFrame(this.#frame);
      clearInterval(this.#timer);
      this.#frame = 0;
      this.#observer.disconnect();
      this.#parts().grid.label(null);
      return;
    }
    this.#element.showPopover();
    this.#observer.observe({ type: "resource", buffered: true });
    this.#last = 0;
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
    this.#timer = setInterval(() => this.#draw(), REDRAWN_EVERY);
    this.#draw();
  }

  #tick(now) {
    if (this.#last > 0) {
      this.#times[this.#count % FRAMES] = now - this.#last;
      this.#count += 1;
    }
    this.#last = now;
    this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }

  #fetched(entries) {
    for (const { name, transferSize, deliveryType } of entries) {
      const isCached = deliveryType === "cache" || transferSize === 0;
      const { pathname, search } = new URL(name);
      this.#origins.set(pathname + search, isCached ? "HTTP cache" : "server");
    }
    for (const url of this.#origins.keys()) {
      if (this.#origins.size <= MOST_ORIGINS) break;
      this.#origins.delete(url);
    }
  }

  #draw() {
    this.#stayOnTop();
    const { grid, loader, viewer } = this.#parts();
    const origin = (request) =>
      request.wasInMemory ? "memory" : (this.#origins.get(request.url) ?? "server");
    grid.label((request) => `${stepName(request.step)} · ${origin(request)}`);
    const { pace, tiles, steps, requests } = grid.statistics;
    const { waiting, inFlight, isHeld, fromMemory, fetched, aborted, cached, cachedBytes } =
      loader.statistics;
    const origins = tally(requests.map(origin));
    const shown = Math.min(FRAMES, this.#count);
    const times = this.#times.slice(0, shown).sort();
    const at = (share) => times[Math.min(shown - 1, Math.floor(share * shown))]?.toFixed(1) ?? "–";
    const late = times.filter((time) => time > 17.5).length;
    this.#show("Pace", isHeld ? `${pace}, loading is paused` : pace);
    this.#show("Tiles", `${tiles.sharp} sharp, ${tiles.coarse} coarser, ${tiles.empty} placeholders`);
    this.#show("LOD", list(tally(steps.map(stepName))));
    this.#show("Came from", list(origins));
    this.#show("Requests", `${inFlight} in flight, ${waiting} waiting`);
    this.#show("So far", `${number(fetched)} fetched, ${number(fromMemory)} from memory, `
      + `${number(aborted)} aborted`);
    this.#show("Kept", `${number(cached)} images, ${byteCount(cachedBytes)}`);
    this.#show("Frames", `median ${at(0.5)} ms, 95 % ${at(0.95)} ms, worst ${at(1)} ms, `
      + `${late} of ${shown} late`);
    if (performance.memory) this.#show("Heap", byteCount(performance.memory.usedJSHeapSize));
    this.#show("Viewer", viewer.isOpen ? viewer.statistics : "closed");
    this.#drawChart();
  }

  /** Reopens the panel above a dialog that was opened later. */
  #stayOnTop() {
    const isOver = this.#dialog.open;
    if (this.#element.dataset.isOver === `${isOver}`) return;
    this.#element.dataset.isOver = isOver;
    this.#element.hidePopover();
    this.#element.showPopover();
  }

  #show(name, text) {
    let value = this.#rows.get(name);
    if (value === undefined) {
      value = element("dd");
      const row = element("div");
      row.append(element("dt", "", name), value);
      this.#element.querySelector("dl").append(row);
      this.#rows.set(name, value);
    }
    if (value.textContent !== text) value.textContent = text;
  }

  #drawChart() {
    const { width, height } = this.#chart;
    const context = this.#chart.getContext("2d");
    context.clearRect(0, 0, width, height);
    const first = Math.max(0, this.#count - FRAMES);
    for (let i = first; i < this.#count; i += 1) {
      const time = this.#times[i % FRAMES];
      context.fillStyle = time > 50 ? "#ff6b5e" : time > 17.5 ? "#f2b84b" : "#6fce8a";
      const bar = Math.min(height, time);
      context.fillRect(((i - first) * width) / FRAMES, height - bar, width / FRAMES - 1, bar);
    }
  }
}

function stepName(step) {
  return step === Infinity ? "original" : `${step}`;
}

function tally(values) {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function list(counts) {
  return Object.entries(counts).map(([name, count]) => `${name} × ${count}`).join(", ") || "–";
}

// SPDX-License-Identifier: Apache-2.0

import { renditionURL } from "./api.js";
import { ladderStep } from "./ladder.js";
import { remember, remembered } from "./remembered.js";
import { t } from "./strings.js";
import { prefersStillness } from "./zoom.js";

// Above all tiles of the grid and images of the viewer.
const PRIORITY = -5;

const FADE = 900; // ms

const INTERVALS = ["3", "5", "10", "30"];

/** Milliseconds without a movement of the pointer after which the controls disappear. */
const LINGERS = 2500;

/** Shows one image after the other on the whole screen. */
export class Slideshow {
  /** Called on closing, with the index of the last image shown, and its source. */
  onClose = () => {};
  #dialog;
  #loader;
  #parts;
  #source = null;
  #order = null;
  #place = 0;
  #isPaused = false;
  // The image that is shown, and the one that is prepared: { place, request, element }.
  #shown = null;
  #next = null;
  #timer = 0;
  #lingering = 0;
  #wakeLock = null;

  /** @param {HTMLDialogElement} dialog with a stage and controls */
  constructor(dialog, loader) {
    this.#dialog = dialog;
    this.#loader = loader;
    const names = ["screen", "stage", "interval", "shuffle", "pause", "previous", "next", "close", "status"];
    this.#parts = Object.fromEntries(
      names.map((name) => [name, dialog.querySelector(`[data-part="${name}"]`)]));
    const { interval, shuffle, pause, previous, next, close } = this.#parts;
    interval.append(...INTERVALS.map((seconds) =>
      new Option(t("seconds", { number: seconds }), seconds)));
    interval.value = remembered("interval", INTERVALS) ?? "5";
    shuffle.ariaPressed = remembered("shuffle", ["true", "false"]) ?? "false";
    interval.addEventListener("change", () => {
      remember("interval", interval.value);
      this.#schedule();
    });
    shuffle.addEventListener("click", () => this.#toggleShuffle());
    pause.addEventListener("click", () => this.#pause(!this.#isPaused));
    previous.addEventListener("click", () => this.#go(-1));
    next.addEventListener("click", () => this.#go(1));
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => this.#closed());
    dialog.addEventListener("keydown", (event) => this.#pressed(event));
    dialog.addEventListener("pointermove", () => this.#showControls());
    document.addEventListener("fullscreenchange", () => {
      if (document.fullscreenElement === null && dialog.open) dialog.close();
    });
    document.addEventListener("visibilitychange", () => dialog.open && this.#stayAwake());
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /**
   * Starts with an image.
   *
   * @param {object} source has `count`, `ladder`, `image(index)` and `load(first, end)`, as a listing
   */
  start(source, index) {
    this.#source = source;
    this.#arrange(index);
    this.#dialog.showModal();
    // Some browsers have no full screen for elements; the window is used instead. A dialog cannot be the
    // element (Fullscreen API, 4).
    this.#parts.screen.requestFullscreen?.().catch(() => {});
    this.#pause(false);
    this.#stayAwake();
    this.#showControls();
    this.#go(0);
  }

  /** Continues with a changed listing, if the current one is of the same view. */
  async replace(listing) {
    const source = this.#source;
    if (!this.isOpen || listing === source || listing.view !== source.view || listing.count === 0) return;
    const index = this.#index;
    const found = await listing.locate(source.marker(index)).catch(() => -1);
    // Another listing came first, or another image is shown.
    if (!this.isOpen || source !== this.#source) return;
    if (index !== this.#index) return this.replace(listing);
    this.#source = listing;
    this.#rearrange(found >= 0 ? found : Math.min(index, listing.count - 1));
  }

  get #index() {
    return this.#order[this.#place];
  }

  /** Sets the order; the image `index` is the current one. */
  #arrange(index) {
    const order = Uint32Array.from({ length: this.#source.count }, (_, i) => i);
    const isShuffled = this.#parts.shuffle.ariaPressed === "true";
    if (isShuffled) {
      // The current image first, then all others once (Fisher and Yates).
      [order[0], order[index]] = [order[index], order[0]];
      for (let i = order.length - 1; i > 1; i -= 1) {
        const other = 1 + Math.floor(Math.random() * i);
        [order[i], order[other]] = [order[other], order[i]];
      }
    }
    this.#order = order;
    this.#place = isShuffled ? 0 : index;
  }

  #toggleShuffle() {
    const { shuffle } = this.#parts;
    shuffle.ariaPressed = shuffle.ariaPressed !== "true";
    remember("shuffle", shuffle.ariaPressed);
    this.#rearrange(this.#index);
  }

  /** Continues in another order; a change of the image that is in progress is dropped. */
  #rearrange(index) {
    this.#arrange(index);
    this.#drop(this.#next);
    this.#next = null;
    this.#schedule();
    this.#prepareNext();
  }

  /** Shows the image `distance` places away; skips those that cannot be shown. */
  async #go(distance) {
    clearTimeout(this.#timer);
    const { count } = this.#source;
    for (let attempt = 0; attempt < count && this.isOpen; attempt += 1) {
      const step = distance + Math.sign(distance || 1) * attempt;
      const place = (((this.#place + step) % count) + count) % count;
      const slide = this.#take(place);
      this.#next = slide;
      const isReady = await slide.isReady;
      // Another image was requested in the meantime.
      if (this.#next !== slide) return;
      this.#next = null;
      if (!isReady) {
        this.#drop(slide);
        continue;
      }
      this.#place = place;
      this.#show(slide);
      return;
    }
  }

  /** Returns the prepared image of a place, or starts to prepare it. */
  #take(place) {
    if (this.#next?.place === place) return this.#next;
    this.#drop(this.#next);
    const slide = { place, request: null, element: new Image(), isDropped: false };
    slide.isReady = this.#prepare(slide);
    return slide;
  }

  async #prepare(slide) {
    const index = this.#order[slide.place];
    const source = this.#source;
    try {
      if (source.image(index) === null) await source.load(index, index + 1);
      const image = source.image(index);
      if (image === null || image.error !== null || slide.isDropped) return false;
      const side = Math.max(innerWidth, innerHeight) * devicePixelRatio;
      const step = ladderStep(source.ladder, side) ?? source.ladder.at(-1);
      const url = renditionURL(image.folder, image.name, image.version, step);
      slide.element.alt = image.name;
      slide.element.src = await this.#load(slide, url);
      await slide.element.decode();
      this.#dialog.dataset.next = image.name;
      return !slide.isDropped;
    } catch {
      return false;
    }
  }

  #load(slide, url) {
    return new Promise((resolve, reject) => {
      slide.request = this.#loader.request(url, {
        priority: PRIORITY, onLoad: resolve, onFailure: reject,
      });
      slide.cancel = reject;
      if (slide.request.objectURL !== null) resolve(slide.request.objectURL);
    });
  }

  #show(slide) {
    const last = this.#shown;
    this.#shown = slide;
    const { element } = slide;
    this.#parts.stage.append(element);
    this.#parts.status.textContent = element.alt;
    if (last !== null && last !== slide) {
      const duration = prefersStillness() ? 0 : FADE;
      const fade = element.animate({ opacity: [0, 1] }, { duration });
      // An image that is removed while it fades in rejects the promise.
      fade.finished.catch(() => {}).then(() => this.#drop(last));
    }
    this.#schedule();
    this.#prepareNext();
  }

  /** Loads and decodes the next image before it is due. */
  #prepareNext() {
    if (this.#source.count < 2) return;
    this.#next = this.#take((this.#place + 1) % this.#source.count);
  }

  #drop(slide) {
    if (slide === null || slide === undefined || slide.isDropped) return;
    slide.isDropped = true;
    slide.cancel?.();
    slide.request?.release();
    slide.element.remove();
  }

  #schedule() {
    clearTimeout(this.#timer);
    if (this.#isPaused || this.#source.count < 2) return;
    this.#timer = setTimeout(() => this.#go(1), this.#parts.interval.value * 1000);
  }

  #pause(isPaused) {
    this.#isPaused = isPaused;
    const { pause } = this.#parts;
    pause.ariaLabel = t(isPaused ? "play" : "pause");
    pause.title = pause.ariaLabel;
    this.#dialog.classList.toggle("paused", isPaused);
    if (this.#shown !== null) this.#schedule();
  }

  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isOnControl = event.target.closest("button, select") !== null;
    if (event.key === " " && !isOnControl) this.#pause(!this.#isPaused);
    else if (event.key === "ArrowRight" && event.target.localName !== "select") this.#go(1);
    else if (event.key === "ArrowLeft" && event.target.localName !== "select") this.#go(-1);
    else return;
    event.preventDefault();
    this.#showControls();
  }

  #showControls() {
    this.#dialog.classList.add("active");
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => this.#dialog.classList.remove("active"), LINGERS);
  }

  /** Keeps the screen on; browsers release the lock when the page is hidden. */
  async #stayAwake() {
    if (document.hidden) return;
    try {
      const lock = await navigator.wakeLock?.request("screen");
      if (this.isOpen) this.#wakeLock = lock ?? null;
      else await lock?.release();
    } catch {
      // Not permitted, for example with a low battery.
    }
  }

  #closed() {
    clearTimeout(this.#timer);
    this.#wakeLock?.release();
    this.#wakeLock = null;
    const index = this.#index;
    for (const slide of [this.#shown, this.#next]) this.#drop(slide);
    this.#shown = this.#next = null;
    this.#parts.stage.replaceChildren();
    if (document.fullscreenElement !== null) document.exitFullscreen();
    this.onClose(index, this.#source);
  }
}

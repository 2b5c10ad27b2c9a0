// SPDX-License-Identifier: Apache-2.0

import { fetchPyramid, originalURL, renditionURL } from "./api.js";
import { InfoPanel } from "./info-panel.js";
import { ladderStep } from "./ladder.js";
import { PlaceholderPainter } from "./placeholder-painter.js";
import { followSwipes } from "./swipe.js";
import { date, number } from "./text.js";
import { TileLayer } from "./tile-layer.js";
import { followZoomGestures } from "./zoom-gestures.js";
import { Zoom } from "./zoom.js";

// Below zero: nothing in the grid is more urgent than the picture that is looked at.
const EXACT = -3;
const PREVIEW = -2;
const NEIGHBOUR = -1;

/** Side of the first, quick rendition when none of the grid's is at hand. */
const PREVIEW_SIDE = 256;

/** What comes next if the reader goes on as before; and what if not. */
const NEIGHBOURS = [1, 2, -1];

const ZOOM_STEP = 1.5;
const PANS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const PAN = 120;

const DISTANCES = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1, " ": 1 };

/** One picture, as large as the window, over everything else. */
export class Viewer {
  /** Called with the index of the picture that the user moved to. */
  onMove = () => {};
  /** Called with the index of the picture that was shown last. */
  onClose = () => {};

  #dialog;
  #parts;
  #loader;
  #painter = new PlaceholderPainter();
  #zoom;
  #layer;
  #info;
  // undefined until it is asked for; null when there is none
  #pyramid;
  #visit = new AbortController();
  #detail = 1;
  #listing = null;
  #index = 0;
  #direction = 1;
  #requests = new Map();
  #exactURL = "";
  #originalFails = false;

  constructor(dialog, loader) {
    this.#dialog = dialog;
    this.#loader = loader;
    const part = (name) => dialog.querySelector(`[data-part="${name}"]`);
    this.#parts = Object.fromEntries(
      ["name", "details", "position", "original", "close", "previous", "next", "stage", "frame",
        "preview", "exact", "tiles", "magnify", "share", "info", "facts", "failure", "announcement"].map((name) => [name, part(name)]),
    );
    const { stage, frame, previous, next, close } = this.#parts;
    previous.addEventListener("click", () => this.#move(this.#index - 1));
    next.addEventListener("click", () => this.#move(this.#index + 1));
    close.addEventListener("click", () => dialog.close());
    this.#parts.magnify.addEventListener("click", () => this.#zoom.toggle());
    this.#parts.share.addEventListener("click", () => this.#share());
    this.#info = new InfoPanel(this.#parts.facts, this.#parts.info);
    dialog.addEventListener("close", () => this.#closed());
    dialog.addEventListener("keydown", (event) => this.#pressed(event));
    // The page below must not scroll away from under the dialog.
    dialog.addEventListener("wheel", (event) => event.preventDefault(), { passive: false });
    stage.addEventListener("click", (event) => {
      if (!this.#zoom.isZoomed && !isInside(event, frame)) dialog.close();
    });
    this.#layer = new TileLayer(this.#parts.tiles, loader);
    this.#zoom = new Zoom(stage, () => this.#magnify());
    followZoomGestures(stage, this.#zoom);
    followSwipes(stage, frame, () => this.#zoom.isZoomed, {
      left: () => this.#move(this.#index + 1),
      right: () => this.#move(this.#index - 1),
      down: () => dialog.close(),
    });
    new ResizeObserver(() => this.isOpen && this.#load()).observe(stage);
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** What is shown, in words for developers. */
  get statistics() {
    const { exact, tiles } = this.#parts;
    const has = exact.hidden ? "no rendition yet" : `${exact.naturalWidth} px wide`;
    const level = tiles.hidden ? "" : `, tiles of level ${tiles.dataset.level}`;
    const kept = `${this.#requests.size} renditions kept`;
    return `${has}, ${Math.round(this.#zoom.scale * 100)} % of fitted${level}, ${kept}`;
  }

  /** Shows a picture, opening the viewer when it is closed. */
  show(listing, index) {
    const isSame = this.isOpen && listing.key(index) === this.#listing.key(this.#index);
    if (this.isOpen && index !== this.#index) this.#direction = Math.sign(index - this.#index);
    this.#listing = listing;
    this.#index = index;
    this.#describe();
    if (isSame) return;
    this.#originalFails = false;
    this.#clear();
    if (!this.isOpen) this.#dialog.showModal();
    this.#load();
  }

  close() {
    this.#dialog.close();
  }

  #describe() {
    const { names, widths, heights, modified, versions, total, folder } = this.#listing;
    const index = this.#index;
    const { name, details, position, original, previous, next, exact, announcement } = this.#parts;
    const size = widths[index] > 0 ? `${widths[index]} × ${heights[index]}` : "size unknown";
    name.textContent = names[index];
    details.textContent = `${size} · ${date(modified[index])}`;
    position.textContent = `${number(index + 1)} / ${number(total)}`;
    announcement.textContent = `${names[index]}, ${number(index + 1)} of ${number(total)}`;
    original.href = originalURL(folder, names[index], versions[index]);
    original.download = names[index];
    exact.alt = names[index];
    const facts = {
      name: names[index], width: widths[index], height: heights[index], modified: modified[index],
    };
    this.#info.show(folder, facts, versions[index]);
    // `disabled` would throw the focus out of the dialog when the end is reached by its button.
    previous.setAttribute("aria-disabled", index === 0);
    next.setAttribute("aria-disabled", index === this.#listing.count - 1);
  }

  #clear() {
    const { preview, exact, failure, frame } = this.#parts;
    for (const image of [preview, exact]) {
      image.hidden = true;
      image.removeAttribute("src");
    }
    failure.hidden = true;
    frame.hidden = false;
    this.#painter.clear(frame);
    this.#visit.abort(new DOMException("another picture", "AbortError"));
    this.#visit = new AbortController();
    this.#pyramid = undefined;
    this.#layer.pyramid = null;
    this.#detail = 1;
    this.#zoom.reset();
  }

  /** Asks for the picture at the size at which it is shown, and meanwhile shows what there is. */
  #load() {
    const listing = this.#listing;
    const error = listing.error(this.#index);
    if (error !== null) {
      this.#keepOnly([]);
      this.#exactURL = "";
      this.#fail(error);
      this.#prefetch();
      return;
    }
    const { width, height } = this.#fitted(this.#index);
    const { frame, exact } = this.#parts;
    frame.style.width = `${width}px`;
    frame.style.height = `${height}px`;
    this.#zoom.fit({ width, height }, listing.widths[this.#index]);
    const url = this.#url(this.#index);
    if (url === this.#exactURL && !exact.hidden) return;
    this.#exactURL = url;
    const previewURL = this.#bestAtHand() ?? this.#rendition(this.#index, PREVIEW_SIDE);
    this.#keepOnly([url, previewURL, ...this.#neighbours().map((index) => this.#url(index))]);
    const placeholder = listing.placeholder(this.#index);
    if (placeholder !== undefined && exact.hidden) this.#painter.paint(frame, placeholder);
    this.#request(url, EXACT);
    if (url !== previewURL && this.#exactURL === url) this.#request(previewURL, PREVIEW);
  }

  #loaded(url, objectURL) {
    const { preview, exact } = this.#parts;
    if (url === this.#exactURL) {
      this.#showExact(url, objectURL);
    } else if (exact.hidden && this.#requests.get(url)?.priority === PREVIEW) {
      preview.src = objectURL;
      preview.hidden = false;
    }
  }

  async #showExact(url, objectURL) {
    const { preview, exact, frame } = this.#parts;
    // What is sharp enough for the window stays until what is sharper is ready.
    const image = exact.hidden ? exact : exact.cloneNode();
    image.src = objectURL;
    try {
      await image.decode();
    } catch {
      if (url === this.#exactURL) this.#undecodable();
      return;
    }
    if (url !== this.#exactURL || !this.isOpen) return;
    if (image !== exact) exact.replaceWith(image);
    this.#parts.exact = image;
    image.hidden = false;
    preview.hidden = true;
    this.#painter.clear(frame);
    this.#magnify();
    this.#prefetch();
  }

  /** Not every original's format is one that browsers know; every rendition's is. */
  #undecodable() {
    if (this.#originalFails) {
      this.#fail("the picture cannot be shown");
      return;
    }
    this.#originalFails = true;
    this.#load();
  }

  #prefetch() {
    for (const index of this.#neighbours()) this.#request(this.#url(index), NEIGHBOUR);
  }

  #neighbours() {
    return NEIGHBOURS.map((distance) => this.#index + distance * this.#direction).filter(
      (index) => index >= 0 && index < this.#listing.count && !this.#listing.error(index));
  }

  /** Shows the picture as the zoom has it, sharp: from tiles, or from a larger rendition. */
  #magnify() {
    const { frame, stage } = this.#parts;
    const { scale, x, y, isZoomed } = this.#zoom;
    frame.style.transform = isZoomed ? `translate(${x}px, ${y}px) scale(${scale})` : "";
    stage.classList.toggle("zoomed", isZoomed);
    const isShort = isZoomed && this.#lacksPixels();
    if (isShort && this.#pyramid === undefined) this.#openPyramid();
    if (isShort && this.#pyramid === null && scale > this.#detail) {
      this.#detail = scale;
      this.#load();
    }
    this.#layer.show(isShort ? this.#zoom.place : null);
  }

  #lacksPixels() {
    if (this.#listing.error(this.#index) !== null) return false;
    const { naturalWidth } = this.#parts.exact;
    const { width } = this.#zoom.place;
    const has = this.#parts.exact.hidden ? 0 : naturalWidth;
    return has < this.#listing.widths[this.#index] && has < width * devicePixelRatio * 0.99;
  }

  async #openPyramid() {
    const { folder, names, versions } = this.#listing;
    const { signal } = this.#visit;
    this.#pyramid = "asked for";
    const pyramid = await fetchPyramid(
      folder, names[this.#index], versions[this.#index], signal);
    if (signal.aborted) return;
    this.#pyramid = pyramid;
    this.#layer.pyramid = pyramid;
    this.#magnify();
  }

  #request(url, priority) {
    let request = this.#requests.get(url);
    if (request === undefined) {
      request = this.#loader.request(url, {
        priority,
        onLoad: (objectURL) => this.#loaded(url, objectURL),
        onFailure: (reason) => url === this.#exactURL && this.#fail(reason),
      });
      this.#requests.set(url, request);
    }
    request.priority = priority;
    if (request.objectURL !== null) this.#loaded(url, request.objectURL);
  }

  /** Lets go of every request but those for `urls`, and so of what was prefetched in vain. */
  #keepOnly(urls) {
    for (const [url, request] of this.#requests) {
      if (urls.includes(url)) continue;
      this.#requests.delete(url);
      request.release();
    }
  }

  #fail(reason) {
    const { frame, failure } = this.#parts;
    frame.hidden = true;
    failure.hidden = false;
    failure.textContent = `This picture cannot be shown: ${reason}.`;
  }

  /** The size at which a picture is shown, in CSS pixels; small ones are not enlarged. */
  #fitted(index) {
    const { clientWidth, clientHeight } = this.#parts.stage;
    const { widths, heights } = this.#listing;
    const scale = Math.min(clientWidth / widths[index], clientHeight / heights[index], 1);
    return { width: widths[index] * scale, height: heights[index] * scale };
  }

  #url(index) {
    const { width, height } = this.#fitted(index);
    const { ladder } = this.#listing;
    const detail = index === this.#index ? this.#detail : 1;
    const step = ladderStep(ladder, Math.max(width, height) * devicePixelRatio * detail);
    const canBeOriginal = index !== this.#index || !this.#originalFails;
    return this.#rendition(index, step ?? (canBeOriginal ? null : ladder.at(-1)));
  }

  #rendition(index, side) {
    const { folder, names, versions } = this.#listing;
    return renditionURL(folder, names[index], versions[index], side);
  }

  /** The largest rendition of the picture that is loaded already; null when there is none. */
  #bestAtHand() {
    for (const side of this.#listing.ladder.toReversed()) {
      const url = this.#rendition(this.#index, side);
      if (this.#loader.has(url)) return url;
    }
    return null;
  }

  #move(index) {
    const target = Math.max(0, Math.min(this.#listing.count - 1, index));
    if (target === this.#index) return;
    this.show(this.#listing, target);
    this.onMove(target);
  }

  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // Space presses a focused button or link; elsewhere it goes on to the next picture.
    const isOnControl = event.target.closest("button, a") !== null;
    if (event.key === " " && isOnControl) return;
    if (this.#pressedToZoom(event.key)) {
      event.preventDefault();
      return;
    }
    const distance = DISTANCES[event.key];
    if (distance !== undefined) this.#move(this.#index + distance);
    else if (event.key === "Home") this.#move(0);
    else if (event.key === "i") this.#info.toggle();
    else if (event.key === "End") this.#move(this.#listing.count - 1);
    else if (!["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
  }

  #pressedToZoom(key) {
    const zoom = this.#zoom;
    if (key === "+" || key === "=") zoom.step(ZOOM_STEP);
    else if (key === "-") zoom.step(1 / ZOOM_STEP);
    else if (key === "0") zoom.reset();
    else if (key === "z") zoom.toggle();
    else if (key in PANS && zoom.isZoomed) zoom.pan(...PANS[key].map((part) => part * PAN));
    else return false;
    return true;
  }

  /** Hands the picture's address to the device's own menu, or puts it where it can be pasted. */
  async #share() {
    const { announcement, share } = this.#parts;
    const url = location.href;
    let outcome = "Address copied";
    try {
      // Where there is a mouse, pasting is what people expect.
      if (navigator.share && matchMedia("(pointer: coarse)").matches) {
        await navigator.share({ title: this.#listing.names[this.#index], url });
        return;
      }
      await navigator.clipboard.writeText(url);
    } catch (error) {
      if (error.name === "AbortError") return;
      // Without TLS browsers keep the clipboard to themselves.
      outcome = copyByHand(url, share) ? "Address copied" : "Copying is not allowed here";
    }
    announcement.textContent = outcome;
    share.dataset.outcome = outcome;
    setTimeout(() => delete share.dataset.outcome, 1600);
  }

  #closed() {
    this.#keepOnly([]);
    this.#exactURL = "";
    this.#clear();
    this.onClose(this.#index);
  }
}

function isInside({ clientX, clientY }, element) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

/** The way of old, through a selected text; the only one on pages without TLS. */
function copyByHand(text, place) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  place.after(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  place.focus();
  return isCopied;
}

// SPDX-License-Identifier: Apache-2.0

import { originalURL, renditionURL } from "./api.js";
import { InfoPanel } from "./info-panel.js";
import { ladderStep } from "./ladder.js";
import { Magnifier } from "./magnifier.js";
import { PlaceholderPainter } from "./placeholder-painter.js";
import { RatingControl, starsOf } from "./rating.js";
import { folderHash } from "./routing.js";
import { shareAddress, showOutcome } from "./share.js";
import { t } from "./strings.js";
import { followSwipes } from "./swipe.js";
import { date, localTime, number } from "./text.js";
import { prefersStillness } from "./zoom.js";

// Negative: the image in the viewer precedes every tile of the grid.
const EXACT = -3;
const PREVIEW = -2;
const NEIGHBOUR = -1;

const UNKNOWN_SIDE = 10_000;

/** How long an error of a mark is shown, in milliseconds. */
const FAILURE_SHOWN_FOR = 4000;

/** The side of the first rendition if the grid has loaded none. */
const PREVIEW_SIDE = 256;

/** The priorities of the next image in the direction of navigation, and of the previous one. */
const NEIGHBOURS = [1, 2, -1];

const DISTANCES = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1, " ": 1 };

/** Shows one image at the size of the window. */
export class Viewer {
  /** Called with the index of the image to which the user moved. */
  onMove = () => {};
  /** Called with the listing and the index of the image at which a slideshow starts. */
  onPlay = () => {};
  /** Called on closing, with the index of the last image shown, and its listing. */
  onClose = () => {};

  #dialog;
  #marks = null;
  #rating;
  #parts;
  #loader;
  #painter = new PlaceholderPainter();
  #magnifier;
  #info;
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
      ["name", "folder", "details", "position", "magnify", "favourite", "rating", "slideshow",
        "info", "share", "original", "close", "stage",
        "frame", "preview", "exact", "tiles", "failure", "facts", "previous", "next",
        "announcement"].map((name) => [name, part(name)]),
    );
    const { stage, frame, previous, next, close, magnify, favourite, share, info, facts } =
      this.#parts;
    previous.addEventListener("click", () => this.move(this.#index - 1));
    next.addEventListener("click", () => this.move(this.#index + 1));
    close.addEventListener("click", () => dialog.close());
    magnify.addEventListener("click", () => this.#magnifier.toggle());
    share.addEventListener("click", () => this.#share());
    this.#parts.slideshow.addEventListener("click", () => this.#play());
    favourite.addEventListener("click", () => this.#toggleFavourite());
    this.#rating = new RatingControl(this.#parts.rating);
    this.#rating.onRate = (stars) => this.#rate(stars);
    this.#info = new InfoPanel(facts, info);
    dialog.addEventListener("close", () => this.#closed());
    dialog.addEventListener("keydown", (event) => this.#pressed(event));
    // The page below the dialog must not scroll.
    dialog.addEventListener("wheel", (event) => {
      if (!facts.contains(event.target)) event.preventDefault();
    }, { passive: false });
    stage.addEventListener("click", (event) => {
      if (!this.#magnifier.isZoomed && !isInside(event, frame)) dialog.close();
    });
    this.#magnifier = new Magnifier(this.#parts, loader, () => this.#load());
    followSwipes(stage, frame, () => this.#magnifier.isZoomed, {
      left: () => this.move(this.#index + 1),
      right: () => this.move(this.#index - 1),
      down: () => dialog.close(),
    });
    new ResizeObserver(() => this.isOpen && this.#load()).observe(stage);
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** Sets the marks; without them there are no buttons for them. */
  set marks(marks) {
    this.#marks = marks;
    this.#parts.favourite.hidden = false;
    this.#parts.rating.hidden = false;
    this.showMarks();
  }

  /** A description for the developer panel. */
  get statistics() {
    const { exact } = this.#parts;
    const has = exact.hidden ? "no rendition yet" : `${exact.naturalWidth} px wide`;
    return `${has}, ${this.#magnifier.statistics}, ${this.#requests.size} renditions kept`;
  }

  /** Shows an image whose properties are loaded, opening the viewer when it is closed. */
  show(listing, index) {
    const isSame = this.isOpen && listing.key(index) === this.#listing.key(this.#index);
    if (this.isOpen && index !== this.#index) this.#direction = Math.sign(index - this.#index);
    this.#listing = listing;
    this.#index = index;
    this.#describe();
    if (isSame) return;
    this.#originalFails = false;
    this.#clear();
    const { error, folder, name, version, width } = this.#image;
    this.#magnifier.enter(error === null ? { folder, name, version, width } : null);
    if (!this.isOpen) this.#dialog.showModal();
    // Not `:has` in the style sheet, which would make all changes of tiles slower.
    document.documentElement.classList.add("in-viewer");
    this.#load();
  }

  close() {
    this.#dialog.close();
  }

  #describe() {
    const { folder, name, width, height, version, modified, taken } = this.#image;
    const [index, { total }] = [this.#index, this.#listing];
    const parts = this.#parts;
    const { details, position, original, previous, next, exact, announcement } = parts;
    const size = width > 0 ? `${width} × ${height}` : t("sizeUnknown");
    parts.name.textContent = name;
    // The timeline shows images of many folders.
    parts.folder.hidden = taken === undefined;
    parts.folder.textContent = folder === "" ? t("root") : folder;
    parts.folder.href = folderHash(folder);
    details.textContent = `${size} · ${taken === undefined ? date(modified) : localTime(taken)}`;
    position.textContent = `${number(index + 1)} / ${number(total)}`;
    announcement.textContent =
      t("announcement", { name, index: number(index + 1), total: number(total) });
    original.href = originalURL(folder, name, version);
    original.download = name;
    exact.alt = name;
    this.showMarks();
    this.#info.show(folder, { name, width, height, modified, taken }, version);
    // `disabled` would move the focus out of the dialog at the last image.
    previous.setAttribute("aria-disabled", index === 0);
    next.setAttribute("aria-disabled", index === this.#listing.count - 1);
  }

  get #image() {
    return this.#listing.image(this.#index);
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
  }

  /** Requests the image at its displayed size, and shows a loaded rendition until then. */
  #load() {
    const { error, placeholder } = this.#image;
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
    this.#magnifier.fit({ width, height });
    const url = this.#url(this.#index);
    if (url === this.#exactURL && !exact.hidden) return;
    this.#exactURL = url;
    const previewURL = this.#bestAtHand() ?? this.#still(this.#index, PREVIEW_SIDE);
    this.#keepOnly([url, previewURL, ...this.#neighbours().map((index) => this.#url(index))]);
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
    // The current rendition stays until the sharper one is ready.
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
    this.#magnifier.available = image.naturalWidth;
    this.#prefetch();
  }

  /** Browsers do not support the format of every original, but that of every rendition. */
  #undecodable() {
    if (this.#originalFails) {
      this.#fail(t("undecodable"));
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
      (index) => index >= 0 && index < this.#listing.count
        && this.#listing.image(index)?.error === null);
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

  /** Releases all requests except those for `urls`. */
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
    failure.textContent = t("imageFails", { reason });
  }

  /** Returns the displayed size of an image, in CSS pixels; small images are not enlarged. */
  #fitted(index) {
    const { clientWidth, clientHeight } = this.#parts.stage;
    let { width, height } = this.#listing.image(index);
    // Before its header has been read, an image is taken to be larger than the window.
    if (!(width > 0)) [width, height] = [UNKNOWN_SIDE * this.#listing.aspect(index), UNKNOWN_SIDE];
    const scale = Math.min(clientWidth / width, clientHeight / height, 1);
    return { width: width * scale, height: height * scale };
  }

  #url(index) {
    const { width, height } = this.#fitted(index);
    const { ladder } = this.#listing;
    const detail = index === this.#index ? this.#magnifier.detail : 1;
    const step = ladderStep(ladder, Math.max(width, height) * devicePixelRatio * detail);
    const canBeOriginal = index !== this.#index || !this.#originalFails;
    return this.#rendition(index, step ?? (canBeOriginal ? null : ladder.at(-1)));
  }

  #rendition(index, side) {
    const { folder, name, version } = this.#listing.image(index);
    return renditionURL(folder, name, version, side, { plays: !prefersStillness() });
  }

  /** The URL that the grid requests. */
  #still(index, side) {
    const { folder, name, version } = this.#listing.image(index);
    return renditionURL(folder, name, version, side);
  }

  /** Returns the largest loaded rendition of the image, or null. */
  #bestAtHand() {
    for (const side of this.#listing.ladder.toReversed()) {
      const urls = [this.#rendition(this.#index, side), this.#still(this.#index, side)];
      const url = urls.find((other) => this.#loader.has(other));
      if (url !== undefined) return url;
    }
    return null;
  }

  /** Shows another image of the listing. */
  async move(index) {
    const listing = this.#listing;
    const target = Math.max(0, Math.min(listing.count - 1, index));
    if (target === this.#index) return;
    if (listing.image(target) === null) {
      const left = this.#index;
      await listing.load(target, target + 1).catch(() => {});
      const isOutdated = !this.isOpen || listing !== this.#listing || left !== this.#index;
      if (isOutdated || listing.image(target) === null) return;
    }
    this.show(listing, target);
    this.onMove(target);
  }

  /** Shows an image of a listing that may have been replaced by the one of the viewer. */
  async moveTo(index, listing) {
    let target = index;
    if (listing !== this.#listing) {
      target = await this.#listing.locate(listing.marker(index)).catch(() => -1);
    }
    if (target >= 0 && this.isOpen) await this.move(target);
  }

  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // Space activates a focused button or link; otherwise it shows the next image.
    const isOnControl = event.target.closest("button, a") !== null;
    if (event.key === " " && isOnControl) return;
    const distance = DISTANCES[event.key];
    if (this.#magnifier.pressed(event.key)) event.preventDefault();
    else if (distance !== undefined) this.move(this.#index + distance);
    else if (event.key === "Home") this.move(0);
    else if (event.key === "i") this.#info.toggle();
    else if (event.key === "f") this.#toggleFavourite();
    else if (starsOf(event.key) !== null) this.#rate(starsOf(event.key));
    else if (event.key === "s") this.#play();
    else if (event.key === "End") this.move(this.#listing.count - 1);
    else if (!["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
  }

  #play() {
    this.onPlay(this.#listing, this.#index);
  }

  /** Shows the marks of the image. */
  showMarks() {
    const image = this.#listing?.image(this.#index) ?? null;
    if (this.#marks === null || image === null) return;
    this.#parts.favourite.ariaPressed = this.#marks.isFavourite(image);
    this.#rating.show(this.#marks.rating(image));
  }

  #toggleFavourite() {
    if (this.#marks !== null) this.#mark(this.#marks.toggleFavourites([this.#image]));
  }

  async #rate(stars) {
    if (this.#marks === null) return;
    const image = this.#image;
    const isSaved = await this.#mark(this.#marks.rate([image], stars));
    if (!isSaved || image !== this.#image) return;
    const count = this.#marks.rating(image);
    this.#parts.announcement.textContent =
      count > 0 ? t("stars", { count, number: count }) : t("unrated");
  }

  /** Shows the outcome of a change of marks; returns whether it was saved. */
  async #mark(change) {
    this.showMarks();
    try {
      await change;
      return true;
    } catch (error) {
      const { favourite, announcement } = this.#parts;
      const outcome = t("markFails", { reason: error.message });
      showOutcome(outcome, favourite, announcement, FAILURE_SHOWN_FOR);
      this.showMarks();
      return false;
    }
  }

  #share() {
    const { share, announcement } = this.#parts;
    shareAddress(this.#image.name, share, announcement);
  }

  #closed() {
    document.documentElement.classList.remove("in-viewer");
    this.#keepOnly([]);
    this.#exactURL = "";
    this.#clear();
    this.#magnifier.enter(null);
    this.onClose(this.#index, this.#listing);
  }
}

function isInside({ clientX, clientY }, element) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

// SPDX-License-Identifier: Apache-2.0

import { renditionURL } from "./api.js";
import { coarserStep, ladderStep, tileSide } from "./ladder.js";
import { Pace } from "./scroll-pace.js";
import { t } from "./strings.js";
import { element } from "./text.js";
import { parseThumbHash } from "./thumbhash.js";

/** Images with fewer pixels than this share of their tile are centred instead of enlarged. */
const TOO_SMALL_TO_FILL = 0.5;

/** Added to the priority of a larger rendition: empty tiles load first. */
const HAS_IMAGE = 1e5;

/** A tile of the grid: a link with an image or an error message. */
export class Tile {
  element = element("li", "tile");
  link = document.createElement("a");
  // Created on demand: an empty image element costs more than the rest of a tile.
  #image = null;
  #loader;
  #painter;
  #picture = null;
  #listing;
  #total = 0;
  #side = 0;
  #priority = Infinity;
  #shown = null;
  #pending = new Set();
  // Whether the image is to be requested again, because it was not that of the listing before.
  #isDoubtful = false;
  #repeats = 0;
  #timer = 0;
  #check = null;

  constructor(listing, index, loader, painter) {
    this.index = index;
    this.key = listing.key(index);
    this.#loader = loader;
    this.#painter = painter;
    this.link.tabIndex = -1;
    this.link.draggable = false;
    this.element.append(this.link);
    this.#describe(listing, index);
  }

  /** Sets the properties of the image, unless they have not arrived yet. */
  #describe(listing, index) {
    this.#picture = listing.image(index);
    if (this.#picture === null) return;
    this.key = listing.key(index);
    const { name, error } = this.#picture;
    this.link.href = listing.imageHash(index);
    this.link.dataset.name = name;
    this.link.ariaLabel = name;
    if (error !== null) this.#fail(error);
  }

  /** Shows the image after its properties have arrived. */
  fill(listing, layout, pace) {
    if (this.#picture !== null) return;
    this.#describe(listing, this.index);
    if (this.#picture !== null) this.#fit(layout, pace);
  }

  /** The properties of the image; null before they have arrived. */
  get picture() {
    return this.#picture;
  }

  /** Shows the marks of the image, and whether it is selected; the check mark is created on demand. */
  mark({ isFavourite, stars, isSelected, hasCheck }) {
    const { classList, dataset } = this.element;
    if (stars > 0) dataset.stars = "★".repeat(stars);
    else delete dataset.stars;
    if (this.#picture !== null) {
      const label = markedName(this.#picture.name, isFavourite, stars);
      if (label !== this.link.ariaLabel) this.link.ariaLabel = label;
    }
    classList.toggle("favourite", isFavourite);
    classList.toggle("selected", isSelected);
    if ((hasCheck || isSelected) && this.#check === null && this.#picture !== null) {
      this.#check = element("button", "check");
      this.#check.type = "button";
      this.#check.tabIndex = -1;
      this.#check.ariaLabel = t("select", { name: this.#picture.name });
      this.element.append(this.#check);
    }
    if (this.#check !== null) this.#check.ariaPressed = isSelected;
  }

  get hasFailed() {
    return this.element.classList.contains("failed");
  }

  /** The request whose image is shown, or null. */
  get shown() {
    return this.#shown;
  }

  /** Whether an image of the tile is in flight. */
  get isLoading() {
    return [...this.#pending].some((request) => request.isStarted);
  }

  /** Whether the image is sharp or has failed. */
  get isSharp() {
    return this.hasFailed || (this.#shown !== null && this.#shown.step >= this.#exactStep);
  }

  /** Moves the tile to the position of image `index`, relative to the offset `base`. */
  place(listing, layout, index, base, pace) {
    this.index = index;
    // Another listing may have other marks of the image.
    const isChanged = listing !== this.#listing;
    if (isChanged && this.#picture !== null && listing.key(index) === this.key) {
      this.#picture = listing.image(index);
      this.#isDoubtful = this.#shown?.isProvisional === true;
    }
    this.#listing = listing;
    if (this.#picture === null) this.key = listing.key(index);
    const [width, height] = [layout.w[index], layout.h[index]];
    const { style } = this.element;
    style.left = `${layout.x[index]}px`;
    style.top = `${layout.y[index] - base}px`;
    style.width = `${width}px`;
    style.height = `${height}px`;
    this.element.setAttribute("aria-posinset", index + 1);
    if (this.#total !== listing.total) this.element.setAttribute("aria-setsize", listing.total);
    this.#total = listing.total;
    if (this.#picture === null) this.#describe(listing, index);
    if (this.#picture !== null) this.#fit(layout, pace);
  }

  #fit(layout, pace) {
    const [width, height] = [layout.w[this.index], layout.h[this.index]];
    const isSmall = this.#picture.width > 0 && this.#picture.width < width * TOO_SMALL_TO_FILL;
    this.element.classList.toggle("small", isSmall);
    this.#side = tileSide(width, height, this.#listing.aspect(this.index), layout, devicePixelRatio);
    this.load(pace);
    this.#paintGround(isSmall);
  }

  /** Lowest first; see `ImageLoader`. */
  set priority(priority) {
    this.#priority = priority + (this.#shown === null ? 0 : HAS_IMAGE);
    for (const request of this.#pending) request.priority = this.#priority;
  }

  /** Requests the image at the size for the scroll speed. */
  load(pace) {
    if (this.hasFailed || this.#picture === null) return;
    const exact = this.#exactStep;
    let step = exact;
    if (pace !== Pace.RESTING && !this.#loader.has(this.#url(exact))) {
      if (pace === Pace.FLYING) return;
      step = coarserStep(this.#listing.ladder, exact);
    }
    // A larger rendition is sharp; only a smaller one is replaced.
    const valid = this.#isDoubtful ? null : this.#shown;
    const isAskedFor = [valid, ...this.#pending].some((other) => other?.step >= step);
    if (!isAskedFor) this.#request(step);
  }

  /** Releases the requests of the tile. */
  remove() {
    clearTimeout(this.#timer);
    for (const request of this.#pending) request.release();
    this.#shown?.release();
    this.#painter.clear(this.link);
    this.element.remove();
  }

  /** `Infinity` means the original. */
  get #exactStep() {
    return ladderStep(this.#listing.ladder, this.#side) ?? Infinity;
  }

  #url(step) {
    const { folder, name, version } = this.#picture;
    return renditionURL(folder, name, version, step === Infinity ? null : step);
  }

  #request(step) {
    // Loads in flight finish soon and are kept; waiting ones would finish too late.
    for (const request of this.#pending) if (!request.isStarted) this.#drop(request);
    const request = this.#loader.request(this.#url(step), {
      priority: this.#priority,
      onLoad: () => this.#show(request, { isInstant: false }),
      onFailure: (reason) => this.#fail(reason),
    });
    request.step = step;
    this.#pending.add(request);
    if (request.objectURL !== null) this.#show(request, { isInstant: true });
  }

  // No other listing arrives if the file has its former version again before the server notices the change.
  #repeatLater() {
    const seconds = 2 ** Math.min(this.#repeats, 4);
    this.#repeats += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isDoubtful = this.#shown?.isOutdated === true;
      this.load(Pace.RESTING);
    }, seconds * 1000);
  }

  #drop(request) {
    this.#pending.delete(request);
    request.release();
  }

  async #show(request, { isInstant }) {
    const image = new Image();
    image.alt = "";
    image.decoding = "async";
    image.src = request.objectURL;
    // A cached image is shown in the same frame, without a fade.
    if (isInstant && this.#image === null) {
      this.#replaceImage(image);
      this.element.classList.add("instant", "loaded");
    }
    try {
      await image.decode();
    } catch {
      if (this.#pending.has(request)) this.#fail(t("undecodable"));
      return;
    }
    if (!this.#pending.has(request)) return;
    // A sharper rendition does not fade in again.
    if (this.#shown !== null) this.element.classList.add("instant");
    this.#replaceImage(image);
    this.#shown?.release();
    this.#shown = request;
    this.#isDoubtful = false;
    if (request.isOutdated) this.#repeatLater();
    for (const other of this.#pending) {
      if (other !== request && other.step <= request.step) this.#drop(other);
    }
    this.#pending.delete(request);
    this.element.classList.add("loaded");
    // An opaque image fades in over its placeholder, which would stay visible below a transparent one.
    if (parseThumbHash(this.#picture.placeholder ?? "")?.hasAlpha) this.#painter.clear(this.link);
    else this.#painter.keep(this.link);
  }

  #replaceImage(image) {
    if (image === this.#image) return;
    if (this.#image === null) this.link.append(image);
    else this.#image.replaceWith(image);
    this.#image = image;
  }

  // Not for a small image, which does not cover its tile.
  #paintGround(isSmall) {
    const isCovered = this.element.classList.contains("loaded") || this.hasFailed;
    const { placeholder } = this.#picture;
    if (placeholder === undefined || isCovered || isSmall) return;
    this.#painter.paint(this.link, placeholder);
  }

  #fail(reason) {
    this.#painter.clear(this.link);
    const text = element("span", "failure");
    text.append(element("strong", "", this.link.dataset.name), element("span", "", reason));
    this.link.replaceChildren(text);
    this.element.classList.add("failed");
  }
}

function markedName(name, isFavourite, stars) {
  const rating = stars > 0 ? `, ${t("stars", { count: stars, number: stars })}` : "";
  return name + (isFavourite ? `, ${t("favourite")}` : "") + rating;
}

// SPDX-License-Identifier: Apache-2.0

import { renditionURL } from "./api.js";
import { ladderStep, tileSide } from "./ladder.js";
import { pictureHash } from "./routing.js";
import { element } from "./text.js";
import { parseThumbHash } from "./thumbhash.js";

/** Pictures with fewer pixels than this share of their tile are centred instead of blown up. */
const TOO_SMALL_TO_FILL = 0.5;

/** A picture's place in the grid: a link with the picture, or with the reason why there is none. */
export class Tile {
  element = element("li", "tile");
  link = document.createElement("a");
  #image = document.createElement("img");
  #loader;
  #painter;
  #placeholder;
  #priority = Infinity;
  #side = 0;
  #shown = null;
  #pending = null;

  constructor(listing, index, loader, painter) {
    this.index = index;
    this.key = listing.key(index);
    this.#loader = loader;
    this.#painter = painter;
    this.#placeholder = listing.placeholder(index);
    const name = listing.names[index];
    this.link.href = pictureHash(listing.folder, name);
    this.link.dataset.name = name;
    this.link.tabIndex = -1;
    this.link.draggable = false;
    this.#image.alt = name;
    this.#image.decoding = "async";
    this.link.append(this.#image);
    this.element.append(this.link);
    const error = listing.error(index);
    if (error !== null) this.#fail(error);
  }

  get hasFailed() {
    return this.element.classList.contains("failed");
  }

  /** Puts the tile where the layout wants picture `index`, relative to the offset `base`. */
  place(listing, layout, index, base) {
    this.index = index;
    const { style } = this.element;
    style.left = `${layout.x[index]}px`;
    style.top = `${layout.y[index] - base}px`;
    style.width = `${layout.w[index]}px`;
    style.height = `${layout.h[index]}px`;
    this.#image.width = layout.w[index];
    this.#image.height = layout.h[index];
    this.element.setAttribute("aria-posinset", index + 1);
    this.element.setAttribute("aria-setsize", listing.total);
    const isSmall = listing.widths[index] < layout.w[index] * TOO_SMALL_TO_FILL;
    this.element.classList.toggle("small", isSmall);
    this.#request(listing, layout, index);
    this.#paintGround(isSmall);
  }

  /** Lowest first; see `ImageLoader`. */
  set priority(priority) {
    this.#priority = priority;
    if (this.#pending !== null) this.#pending.priority = priority;
  }

  /** Gives back what the tile holds. */
  remove() {
    this.#pending?.release();
    this.#shown?.release();
    this.#painter.clear(this.link);
    this.element.remove();
  }

  // Not for a small picture, which does not cover its tile.
  #paintGround(isSmall) {
    const isCovered = this.element.classList.contains("loaded") || this.hasFailed;
    if (this.#placeholder === undefined || isCovered || isSmall) return;
    this.#painter.paint(this.link, this.#placeholder);
  }

  #request(listing, layout, index) {
    if (this.hasFailed) return;
    const [width, height] = [layout.w[index], layout.h[index]];
    const side = tileSide(width, height, listing.aspect(index), layout, devicePixelRatio);
    const step = ladderStep(listing.ladder, side);
    // A larger rendition than needed is still sharp; only a smaller one has to be replaced.
    if ((step ?? Infinity) <= this.#side) return;
    this.#side = step ?? Infinity;
    this.#pending?.release();
    const url = renditionURL(listing.folder, listing.names[index], listing.versions[index], step);
    const request = this.#loader.request(url, {
      priority: this.#priority,
      onLoad: () => this.#show(request, { isInstant: false }),
      onFailure: (reason) => this.#fail(reason),
    });
    this.#pending = request;
    if (request.objectURL !== null) this.#show(request, { isInstant: true });
  }

  async #show(request, { isInstant }) {
    this.#image.src = request.objectURL;
    if (isInstant) this.element.classList.add("instant", "loaded");
    try {
      await this.#image.decode();
    } catch {
      if (this.#pending === request) this.#fail("the picture cannot be shown");
      return;
    }
    if (this.#pending !== request) return;
    this.#shown?.release();
    this.#shown = request;
    this.#pending = null;
    this.element.classList.add("loaded");
    // An opaque picture fades in over its placeholder; a transparent one would show it for good.
    if (parseThumbHash(this.#placeholder ?? "")?.hasAlpha) this.#painter.clear(this.link);
  }

  #fail(reason) {
    this.#painter.clear(this.link);
    const text = element("span", "failure");
    text.append(element("strong", "", this.link.dataset.name), element("span", "", reason));
    this.link.replaceChildren(text);
    this.element.classList.add("failed");
  }
}

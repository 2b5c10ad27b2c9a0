// SPDX-License-Identifier: Apache-2.0

import { join } from "./routing.js";

/** The maximum number of selected images, and the number whose properties are fetched at a time. */
export const MOST_SELECTED = 10_000;
const PAGE = 500;

/** The selected images of a listing, by path. */
export class Selection {
  /** Called after a change. */
  onChange = () => {};
  /** Called when images were not selected because there are too many. */
  onFull = () => {};
  #images = new Map();
  #listing = null;
  // The image at which a range starts: its index in the listing, null after a change of the listing, and
  // how it is found then.
  #anchor = 0;
  #marker = null;
  // The selection without the range.
  #base = new Map();
  #isAdding = true;
  #step = 0;

  /** Sets the listing; another view clears the selection. */
  set listing(listing) {
    if (listing?.view !== this.#listing?.view) {
      this.clear();
      this.#marker = null;
    }
    if (listing !== this.#listing) this.#anchor = null;
    this.#listing = listing;
  }

  get size() {
    return this.#images.size;
  }

  get images() {
    return [...this.#images.values()];
  }

  get paths() {
    return [...this.#images.keys()];
  }

  has({ folder, name }) {
    return this.#images.has(join(folder, name));
  }

  clear() {
    this.#step += 1;
    if (this.#images.size === 0) return;
    this.#images = new Map();
    this.onChange();
  }

  /** Selects or deselects an image, at which the next range starts. */
  toggle(index) {
    const image = this.#listing.image(index);
    if (image === null) return;
    this.#step += 1;
    this.#setAnchor(index);
    this.#isAdding = !this.has(image);
    this.#base = new Map(this.#images);
    this.#apply([image], this.#isAdding);
    this.onChange();
  }

  /** Starts the next range at an image, without a change. */
  startAt(index) {
    this.#setAnchor(index);
    this.#isAdding = true;
    this.#base = new Map(this.#images);
  }

  #setAnchor(index) {
    this.#anchor = index;
    this.#marker = this.#listing.marker(index);
  }

  /** Selects, or deselects, all images from the start of the range to an image; returns when it is done. */
  async extendTo(index) {
    if (this.#anchor === null && !(await this.#findAnchor(index))) return;
    const [first, last] = [Math.min(this.#anchor, index), Math.max(this.#anchor, index)];
    await this.#setRange(first, last + 1, this.#isAdding, this.#base);
  }

  /**
   * Finds the start of the range in a changed listing. Without it, the range starts at its end: only images
   * that the user has pointed at are selected.
   *
   * @returns {Promise<boolean>} whether no other change came first
   */
  async #findAnchor(index) {
    this.#step += 1;
    const [step, listing, marker] = [this.#step, this.#listing, this.#marker];
    const found = marker === null ? -1 : await listing.locate(marker).catch(() => -1);
    if (step !== this.#step || listing !== this.#listing) return false;
    if (found >= 0) this.#anchor = found;
    else this.startAt(index);
    return true;
  }

  /** Selects or deselects the images `first ..< end`. */
  async setRange(first, end, isSelected) {
    await this.#setRange(first, end, isSelected, new Map(this.#images));
  }

  /** Whether all images `first ..< end` are selected. */
  hasRange(first, end) {
    if (end - first > this.#images.size) return false;
    for (let index = first; index < end; index += 1) {
      const image = this.#listing.image(index);
      if (image === null || !this.has(image)) return false;
    }
    return true;
  }

  async #setRange(first, end, isSelected, base) {
    this.#step += 1;
    const step = this.#step;
    const listing = this.#listing;
    const chosen = [];
    const limited = Math.min(end, first + MOST_SELECTED);
    for (let start = first; start < limited; start += PAGE) {
      const pageEnd = Math.min(limited, start + PAGE);
      const isLoaded = listing.image(start) !== null && listing.image(pageEnd - 1) !== null;
      const page = () => Array.from({ length: pageEnd - start }, (_, i) => listing.image(start + i));
      if (!isLoaded || page().includes(null)) await listing.load(start, pageEnd);
      // A later change replaces this one.
      if (step !== this.#step) return;
      chosen.push(...page().filter((image) => image !== null));
    }
    this.#images = new Map(base);
    const isWhole = this.#apply(chosen, isSelected) && limited === end;
    this.onChange();
    if (!isWhole && isSelected) this.onFull();
  }

  /** Returns whether there was space for all images. */
  #apply(images, isSelected) {
    for (const image of images) {
      const path = join(image.folder, image.name);
      if (!isSelected) this.#images.delete(path);
      else if (this.#images.size < MOST_SELECTED || this.#images.has(path)) this.#images.set(path, image);
      else return false;
    }
    return true;
  }
}

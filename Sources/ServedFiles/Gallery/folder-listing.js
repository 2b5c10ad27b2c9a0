// SPDX-License-Identifier: Apache-2.0

import { fetchListing } from "./api.js";
import { sortedPlaces } from "./sort-order.js";

/** A folder that keeps changing while its pages are fetched is shown as it came, after so many. */
const MOST_RESTARTS = 3;

/** What a folder holds, in columns: an object per picture would cost more than the names do. */
export class FolderListing {
  constructor(folder, page, etag) {
    this.folder = folder;
    this.ladder = page.ladder;
    this.folders = page.folders ?? { name: [], pictures: [] };
    this.revision = page.revision;
    this.etag = etag;
    this.total = page.total;
    this.names = [];
    this.widths = [];
    this.heights = [];
    this.modified = [];
    this.versions = [];
    this.placeholders = [];
    this.errors = new Map();
    this.#append(page);
  }

  /** Pictures known so far; `total` once every page is here. */
  get count() {
    return this.names.length;
  }

  get isComplete() {
    return this.next === null;
  }

  /** Width ÷ height of a picture; square when it cannot be read. */
  aspect(index) {
    const height = this.heights[index];
    return height > 0 ? this.widths[index] / height : 1;
  }

  /** Why a picture cannot be shown, or null. */
  error(index) {
    return this.errors.get(index) ?? null;
  }

  /** The picture's ThumbHash in Base64; undefined as long as the server knows none. */
  placeholder(index) {
    return this.placeholders[index];
  }

  /** What stays the same for a picture while others come and go. */
  key(index) {
    return `${this.versions[index]}/${this.names[index]}`;
  }

  /** The place of a picture, or -1. */
  indexOf(name) {
    return this.names.indexOf(name);
  }

  /**
   * The same pictures in another order, as far as they are known now.
   *
   * @param {"name" | "newest" | "oldest"} order
   */
  sorted(order) {
    const places = sortedPlaces(this.modified, order);
    if (places === null) return this;
    const column = (values) => Array.from(places, (place) => values[place]);
    const errors = new Map();
    if (this.errors.size > 0) {
      places.forEach((place, index) => {
        if (this.errors.has(place)) errors.set(index, this.errors.get(place));
      });
    }
    return Object.assign(Object.create(FolderListing.prototype), this, {
      names: column(this.names),
      widths: column(this.widths),
      heights: column(this.heights),
      modified: column(this.modified),
      versions: column(this.versions),
      errors,
      // Not a copy: more of them come later.
      placeholder: (index) => this.placeholders[places[index]],
    });
  }

  /** Adds the page after those that are here; answers false when the folder has changed. */
  async fetchNext(signal) {
    const { page } = await fetchListing(this.folder, this.next, { signal });
    if (page.revision !== this.revision) return false;
    this.#append(page);
    return true;
  }

  /** Takes what an unchanged folder's first page says now that it did not say before. */
  refresh(page, etag) {
    this.etag = etag;
    this.#setPlaceholders(0, page.pictures.placeholder);
  }

  #setPlaceholders(first, placeholders = {}) {
    for (const [index, hash] of Object.entries(placeholders)) {
      this.placeholders[first + Number(index)] = hash;
    }
  }

  #append(page) {
    const first = this.count;
    const { name, width, height, modified, version, error, placeholder } = page.pictures;
    // Not joined to new columns: of a million pictures each page would copy all before it.
    this.names.push(...name);
    this.widths.push(...width);
    this.heights.push(...height);
    this.modified.push(...modified);
    this.versions.push(...version);
    for (const [index, reason] of Object.entries(error ?? {})) {
      this.errors.set(first + Number(index), reason);
    }
    this.#setPlaceholders(first, placeholder);
    this.next = page.next;
  }
}

/**
 * Fetches a folder's listing page by page.
 *
 * @param {(listing: FolderListing) => void} onPage called when there is more: after the first page,
 *   whenever the pictures have doubled, and at the end, so that laying out costs no more than thrice
 *   what it does once
 * @param {FolderListing | null} known the folder as it was, complete
 * @returns {Promise<FolderListing | null>} null when the folder is as it was
 */
export async function loadFolder(folder, { signal, known = null, onPage = () => {} }) {
  let etag = known?.etag ?? null;
  for (let restarts = 0; ; restarts += 1) {
    const answer = await fetchListing(folder, 0, { signal, etag });
    if (answer === null) return null;
    if (answer.page.revision === known?.revision) {
      known.refresh(answer.page, answer.etag);
      return null;
    }
    const listing = new FolderListing(folder, answer.page, answer.etag);
    onPage(listing);
    let isSame = true;
    let shown = listing.count;
    while (isSame && !listing.isComplete) {
      isSame = await listing.fetchNext(signal);
      if (!isSame || (listing.count < 2 * shown && !listing.isComplete)) continue;
      onPage(listing);
      shown = listing.count;
    }
    if (isSame || restarts === MOST_RESTARTS) return listing;
    etag = null;
  }
}

// SPDX-License-Identifier: Apache-2.0

import { fetchListing } from "./api.js";
import { folderHash, imageHash } from "./routing.js";
import { sortedPlaces } from "./sort-order.js";

/** The number of attempts at a folder that changes while its pages are fetched. */
const MOST_RESTARTS = 3;

/** The contents of a folder in columns: an object per image would need more memory than the names. */
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

  /** The number of images in the received pages; `total` when all have arrived. */
  get count() {
    return this.names.length;
  }

  get isComplete() {
    return this.next === null;
  }

  /** Width ÷ height of an image; 1 when it cannot be read. */
  aspect(index) {
    const height = this.heights[index];
    return height > 0 ? this.widths[index] / height : 1;
  }

  get aspects() {
    return Float64Array.from({ length: this.count }, (_, index) => this.aspect(index));
  }

  /** The identity of what is shown. */
  get view() {
    return folderHash(this.folder);
  }

  /** Returns the properties of an image. */
  image(index) {
    return {
      folder: this.folder,
      name: this.names[index],
      width: this.widths[index],
      height: this.heights[index],
      modified: this.modified[index],
      version: this.versions[index],
      error: this.error(index),
      placeholder: this.placeholder(index),
    };
  }

  imageHash(index) {
    return imageHash(this.folder, this.names[index]);
  }

  /** Returns what `find` requires to find an image in a changed listing. */
  marker(index) {
    return this.names[index];
  }

  find(name) {
    return this.names.indexOf(name);
  }

  /** As `find`; other listings have to fetch for it. */
  async locate(name) {
    return this.find(name);
  }

  /** The properties of all images are present. */
  need() {}

  async load() {}

  /** The reason why an image cannot be shown, or null. */
  error(index) {
    return this.errors.get(index) ?? null;
  }

  /** The image's ThumbHash in Base64; undefined if the server has none. */
  placeholder(index) {
    return this.placeholders[index];
  }

  /** The identity of an image, independent of changes to other images. */
  key(index) {
    return `${this.versions[index]}/${this.names[index]}`;
  }

  /**
   * Returns the images of the received pages in another order.
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
      // Not a copy, because later pages add to it.
      placeholder: (index) => this.placeholders[places[index]],
    });
  }

  /** Appends a page; returns false if the folder has changed. */
  async fetchNext(signal) {
    const { page } = await fetchListing(this.folder, this.next, { signal });
    if (page.revision !== this.revision) return false;
    this.#append(page);
    return true;
  }

  /** Adds new placeholders of the first page of an unchanged folder. */
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
    // Appended in place: concatenation would copy all previous pages for each page.
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
 * @param {(listing: FolderListing) => void} onPage called after the first page, whenever the number
 *   of images has doubled, and at the end: all layouts together cost at most three times the last
 * @param {FolderListing | null} known the previous complete listing
 * @returns {Promise<FolderListing | null>} null when the folder is unchanged
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

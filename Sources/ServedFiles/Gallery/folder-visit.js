// SPDX-License-Identifier: Apache-2.0

import { loadFolder } from "./folder-listing.js";
import { folderHash, imageHash } from "./routing.js";
import { Sections } from "./sections.js";
import { folderName } from "./text.js";

/** The number of cached listings, which Back shows without a request. */
const MOST_KNOWN = 8;

/** Shows a folder, and fetches its changes. */
export class FolderVisit {
  pollInterval = 10_000;
  /** The listing in the selected order, or null. */
  listing = null;
  #parts;
  #folder;
  #controller = new AbortController();
  #isChecking = false;

  /**
   * @param {object} parts the `connection`, the `loader`, the `folderView`, the `sort` control, the
   *   `known` listings by folder, and `show`, which is called with this visit after a change
   */
  constructor(parts, { folder }) {
    this.#parts = parts;
    this.#folder = folder;
    this.view = folderHash(folder);
  }

  get title() {
    return folderName(this.#folder);
  }

  get sections() {
    return new Sections(this.listing, this.#parts.sort.value);
  }

  /** The fetched listing; `listing` has it in the selected order. */
  get #fetched() {
    return this.#parts.known.get(this.#folder) ?? null;
  }

  /** Shows the folder. */
  async start() {
    const { connection, loader, folderView } = this.#parts;
    folderView.enter(this.#folder);
    if (this.#fetched !== null) {
      this.#show(this.#fetched);
      await this.check();
      return;
    }
    const { signal } = this.#controller;
    this.#isChecking = true;
    try {
      const onPage = (listing) => this.#show(listing);
      await connection.persist(() => loadFolder(this.#folder, { signal, onPage }), signal);
      loader.resume();
    } catch (error) {
      if (signal.aborted) return;
      folderView.showFailure(error);
    }
    this.#isChecking = false;
  }

  end() {
    this.#controller.abort(new DOMException("another view", "AbortError"));
  }

  /** Shows the folder in another order. */
  reorder() {
    if (this.#fetched !== null) this.#show(this.#fetched);
  }

  /** Returns the index of the image of a route; -1 if there is none, null if that is not known yet. */
  async locate({ image }) {
    if (this.listing === null) return null;
    const index = this.listing.find(image);
    return index < 0 && !this.listing.isComplete ? null : index;
  }

  hash(index) {
    return imageHash(this.#folder, this.listing.names[index]);
  }

  /** Checks whether the folder has changed; redraws only then. */
  async check() {
    if (this.#isChecking) return;
    const { connection, loader } = this.#parts;
    const { signal } = this.#controller;
    const known = this.#fetched;
    this.#isChecking = true;
    try {
      const options = { signal, known: known?.isComplete ? known : null };
      const listing = await connection.persist(() => loadFolder(this.#folder, options), signal);
      if (listing !== null && listing.revision !== known?.revision) this.#show(listing);
      loader.resume();
    } catch (error) {
      if (signal.aborted) return;
      // Other errors may be temporary; the current view stays until the next check.
      if (error.status === 404) this.#leave(error);
    }
    this.#isChecking = false;
  }

  /** Shows a listing, complete or not. */
  #show(listing) {
    const { known, sort, folderView, show } = this.#parts;
    known.delete(this.#folder);
    known.set(this.#folder, listing);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value);
    this.listing = listing.sorted(sort.value);
    folderView.show(listing);
    show(this);
  }

  /** Shows that the folder no longer exists. */
  #leave(error) {
    const { known, folderView, show } = this.#parts;
    known.delete(this.#folder);
    this.listing = null;
    show(this);
    folderView.enter(this.#folder);
    folderView.showFailure(error);
  }
}

// SPDX-License-Identifier: Apache-2.0

import { Connection } from "./connection.js";
import { DensityControl, rowHeightFor } from "./density.js";
import { DeveloperPanel } from "./developer-panel.js";
import { loadFolder } from "./folder-listing.js";
import { FolderView } from "./folder-view.js";
import { ImageLoader } from "./image-loader.js";
import { folderHash, parseHash, imageHash, ScrollMemory } from "./routing.js";
import { Scrubber } from "./scrubber.js";
import { SortControl } from "./sort-order.js";
import { folderName } from "./text.js";
import { Viewer } from "./viewer.js";
import { VirtualGrid } from "./virtual-grid.js";

const POLL_INTERVAL = 10_000;

/** The number of cached listings, which Back shows without a request. */
const MOST_KNOWN = 8;

/** Shows the folder and the image of the URL. */
class Gallery {
  #loader = new ImageLoader();
  #connection = new Connection(document.querySelector("#banner"));
  #folderView = new FolderView();
  #memory = new ScrollMemory();
  #viewer = new Viewer(document.querySelector("#viewer"), this.#loader);
  #density = new DensityControl(document.querySelector("#density"), () => this.#grid.relayout());
  #grid = new VirtualGrid(
    document.querySelector("#grid"),
    document.querySelector("#bar"),
    this.#loader,
    (width, height, meanAspect) => rowHeightFor(this.#density.value, width, height, meanAspect),
  );
  #sort = new SortControl(document.querySelector("#sort select"), () => this.#reorder());
  #scrubber = new Scrubber(document.querySelector("#scrubber"), this.#grid);
  #known = new Map();
  #listing = null;
  #folder = null;
  #key = null;
  #scrollGoal = null;
  #visit = new AbortController();
  #isChecking = false;
  #timer = 0;

  start() {
    const parts = { grid: this.#grid, loader: this.#loader, viewer: this.#viewer };
    const panel = document.querySelector("#developer");
    new DeveloperPanel(panel, document.querySelector("#viewer"), () => parts);
    this.#loader.onUnreachable = () => this.#check();
    this.#viewer.onMove = (index) => this.#moved(index);
    this.#viewer.onClose = (index) => this.#closed(index);
    addEventListener("hashchange", () => this.#follow());
    document.addEventListener("visibilitychange", () => this.#check());
    for (const type of ["wheel", "touchstart", "keydown"]) {
      addEventListener(type, () => (this.#scrollGoal = null), { passive: true });
    }
    this.#follow();
  }

  /** The fetched listing of the folder; `#listing` has it in the selected order. */
  get #fetched() {
    return this.#known.get(this.#folder) ?? null;
  }

  #follow() {
    const { folder, image } = parseHash(location.hash);
    const leftOffset = scrollY;
    const cameFromGrid = folder === this.#folder && image !== null && !this.#viewer.isOpen;
    if (this.#key !== null) this.#memory.leave(this.#key, leftOffset);
    const { key, offset } = this.#memory.arrive();
    this.#key = key;
    // Closing goes back if the grid is the previous history entry, and replaces the entry otherwise.
    if (cameFromGrid) history.replaceState({ ...history.state, isAboveGrid: true }, "");
    if (folder === this.#folder) this.#showImage();
    else this.#enter(folder, offset);
  }

  async #enter(folder, offset) {
    this.#visit.abort(new DOMException("another folder", "AbortError"));
    this.#visit = new AbortController();
    const { signal } = this.#visit;
    this.#folder = folder;
    this.#folderView.enter(folder);
    this.#scrollGoal = offset;
    if (this.#viewer.isOpen) this.#viewer.close();
    this.#listing = null;
    this.#scrubber.clear();
    if (this.#fetched !== null) {
      this.#show(this.#fetched);
      this.#isChecking = false;
      this.#check();
      return;
    }
    this.#grid.clear();
    this.#isChecking = true;
    try {
      const onPage = (listing) => this.#show(listing);
      await this.#connection.persist(() => loadFolder(folder, { signal, onPage }), signal);
      this.#loader.resume();
    } catch (error) {
      if (signal.aborted) return;
      this.#folderView.showFailure(error);
    }
    this.#isChecking = false;
    this.#checkLater();
  }

  /** Shows a listing, complete or not. */
  #show(listing) {
    if (listing.folder !== this.#folder) return;
    this.#known.delete(listing.folder);
    this.#known.set(listing.folder, listing);
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value);
    this.#listing = listing.sorted(this.#sort.value);
    this.#folderView.show(listing);
    this.#grid.show(this.#listing);
    this.#scrubber.show(this.#listing, this.#sort.value);
    this.#scrollToGoal();
    this.#showImage();
  }

  #reorder() {
    scrollTo({ top: 0, behavior: "instant" });
    if (this.#fetched !== null) this.#show(this.#fetched);
  }

  #scrollToGoal() {
    if (this.#scrollGoal === null) return;
    scrollTo({ top: this.#scrollGoal, behavior: "instant" });
    // The restored offset may be below the received pages.
    if (Math.abs(scrollY - this.#scrollGoal) < 2) this.#scrollGoal = null;
  }

  #showImage() {
    const { image } = parseHash(location.hash);
    document.title = `${image ?? folderName(this.#folder)} – Calotype`;
    if (image === null) {
      if (this.#viewer.isOpen) this.#viewer.close();
      return;
    }
    const listing = this.#listing;
    if (listing === null) return;
    const index = listing.indexOf(image);
    if (index >= 0) {
      this.#viewer.show(listing, index);
      this.#grid.reveal(index);
    } else if (listing.isComplete) {
      this.#replaceHash(folderHash(this.#folder));
      if (this.#viewer.isOpen) this.#viewer.close();
    }
  }

  #moved(index) {
    this.#replaceHash(imageHash(this.#folder, this.#listing.names[index]));
    this.#grid.reveal(index);
  }

  #closed(index) {
    const { folder, image } = parseHash(location.hash);
    if (folder === this.#folder) this.#grid.focus(index);
    if (folder !== this.#folder || image === null) return;
    if (history.state?.isAboveGrid) history.back();
    else this.#replaceHash(folderHash(folder));
  }

  #replaceHash(hash) {
    history.replaceState(history.state, "", hash);
    document.title = `${parseHash(hash).image ?? folderName(this.#folder)} – Calotype`;
  }

  #checkLater() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), POLL_INTERVAL);
  }

  /** Checks whether the folder has changed; redraws only then. */
  async #check() {
    if (document.hidden || this.#isChecking || this.#folder === null) return;
    const { signal } = this.#visit;
    const folder = this.#folder;
    const known = this.#fetched;
    this.#isChecking = true;
    try {
      const load = () => loadFolder(folder, { signal, known: known?.isComplete ? known : null });
      const listing = await this.#connection.persist(load, signal);
      if (listing !== null && listing.revision !== known?.revision) this.#show(listing);
      this.#loader.resume();
    } catch (error) {
      if (signal.aborted) return;
      // Other errors may be temporary; the current view stays until the next check.
      if (error.status === 404) this.#leave(folder, error);
    }
    this.#isChecking = false;
    this.#checkLater();
  }

  /** Shows that the folder no longer exists. */
  #leave(folder, error) {
    this.#known.delete(folder);
    this.#listing = null;
    this.#scrubber.clear();
    this.#grid.clear();
    this.#folderView.enter(folder);
    this.#folderView.showFailure(error);
  }
}

new Gallery().start();

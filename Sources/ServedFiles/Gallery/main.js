// SPDX-License-Identifier: Apache-2.0

// The first import, so that its requests do not wait for the other modules.
import { firstStatus } from "./first-requests.js";
import { fetchListing } from "./api.js";
import { Connection } from "./connection.js";
import { DensityControl, rowHeightFor } from "./density.js";
import { DeveloperPanel } from "./developer-panel.js";
import { DuplicatesView } from "./duplicates-view.js";
import { DuplicatesVisit } from "./duplicates-visit.js";
import { FolderView } from "./folder-view.js";
import { FolderVisit } from "./folder-visit.js";
import { ImageLoader } from "./image-loader.js";
import { fetchStatus } from "./library.js";
import { LibraryWait } from "./library-wait.js";
import { LinksDialog } from "./links-dialog.js";
import { LibraryControls } from "./library-controls.js";
import { keepPage } from "./page-keeping.js";
import { DUPLICATES, parseHash, ScrollMemory, timelineHash } from "./routing.js";
import { Scrubber } from "./scrubber.js";
import { SearchBox } from "./search-box.js";
import { ShareDialog } from "./share-dialog.js";
import { Slideshow } from "./slideshow.js";
import { SortControl } from "./sort-order.js";
import { language, localize } from "./strings.js";
import { isShared, markShared, TimelineView } from "./timeline-view.js";
import { TimelineVisit } from "./timeline-visit.js";
import { Viewer } from "./viewer.js";
import { VirtualGrid } from "./virtual-grid.js";

/** Shows the folder or timeline, and the image, of the URL. */
class Gallery {
  #loader = new ImageLoader();
  #connection = new Connection(document.querySelector("#banner"));
  #folderView = new FolderView();
  #duplicatesView = new DuplicatesView();
  #timelineView = new TimelineView(this.#folderView, document.querySelector("#progress"));
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
  #search = new SearchBox(document.querySelector("#search"));
  #slideshow = new Slideshow(document.querySelector("#slideshow"), this.#loader);
  #controls = null;
  #known = new Map();
  #visit = null;
  #key = null;
  #scrollGoal = null;
  #wait = new LibraryWait(() => this.#check());
  // The generation of the library before the folder was checked last.
  #generation = null;

  async start() {
    const parts = { grid: this.#grid, loader: this.#loader, viewer: this.#viewer };
    const panel = document.querySelector("#developer");
    new DeveloperPanel(panel, document.querySelector("#viewer"), () => parts);
    this.#loader.onUnreachable = () => this.#check();
    this.#viewer.onMove = (index) => this.#moved(index);
    this.#viewer.onPlay = (listing, index) => {
      this.#slideshow.onClose = (last, shown) => this.#viewer.moveTo(last, shown);
      this.#slideshow.start(listing, index);
    };
    this.#viewer.onClose = (index, listing) => this.#closed(index, listing);
    this.#search.onSearch = (query) => this.#searched(query);
    addEventListener("hashchange", () => this.#follow());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#wait.end();
      else this.#check();
    });
    for (const type of ["wheel", "touchstart", "keydown"]) {
      addEventListener(type, () => (this.#scrollGoal = null), { passive: true });
    }
    const showsLibrary = this.#showLibrary();
    if (location.hash === "" && (await showsLibrary) && (isShared() || await isWithoutImages())) {
      history.replaceState(history.state, "", timelineHash(""));
    }
    this.#follow();
  }

  /** Shows the controls of the library if the server has one. */
  async #showLibrary() {
    let status;
    try {
      status = await firstStatus;
    } catch {
      return false;
    }
    if (status === null) return false;
    document.documentElement.classList.add("has-library");
    markShared(status);
    this.#generation = status.generation;
    this.#showCovers(status);
    this.#controls = new LibraryControls(document.querySelector("#grid"), this.#grid);
    this.#controls.onPlay = (images) => this.#play(images);
    if (status.canShare) this.#allowSharing();
    if (status.canMark) {
      document.documentElement.classList.add("can-mark");
      this.#viewer.marks = this.#controls.marks;
      this.#controls.allowMarks();
    }
    return true;
  }

  /** Shows the buttons that make links to folders and selections. */
  #allowSharing() {
    document.documentElement.classList.add("can-share");
    const dialog = new ShareDialog(document.querySelector("#share"));
    this.#controls.onShare = (paths) => dialog.offerImages(paths);
    document.querySelector("#share-folder").addEventListener(
      "click", () => dialog.offerFolder(parseHash(location.hash).folder));
    const links = new LinksDialog(document.querySelector("#links"));
    document.querySelector("#show-links").addEventListener("click", () => links.open());
  }

  /** Shows covers of folders once images of the library have been read. */
  #showCovers(status) {
    if (status.read > 0) this.#folderView.showCovers(status.generation);
  }

  /** Shows selected images in a slideshow. */
  #play(images) {
    const { ladder } = this.#visit.listing;
    this.#slideshow.onClose = () => {};
    this.#slideshow.start({ count: images.length, ladder, image: (i) => images[i] }, 0);
  }

  #follow() {
    const route = parseHash(location.hash);
    const leftOffset = scrollY;
    const isSameView = route.view === this.#visit?.view;
    const cameFromGrid = isSameView && route.image !== null && !this.#viewer.isOpen;
    if (this.#key !== null) this.#memory.leave(this.#key, leftOffset);
    const { key, offset } = this.#memory.arrive();
    this.#key = key;
    // Closing goes back if the grid is the previous history entry, and replaces the entry otherwise.
    if (cameFromGrid) history.replaceState({ ...history.state, isAboveGrid: true }, "");
    if (isSameView) this.#showImage();
    else this.#enter(route, offset);
  }

  /** Shows the images that a query finds; the queries while the user types are one history entry. */
  #searched(query) {
    const { isTimeline, query: last } = parseHash(location.hash);
    const hash = timelineHash(query);
    if (hash === location.hash) return;
    if (!isTimeline || last === "") {
      location.hash = hash;
      return;
    }
    scrollTo({ top: 0, behavior: "instant" });
    history.replaceState(history.state, "", hash);
    this.#follow();
  }

  async #enter(route, offset) {
    this.#visit?.end();
    this.#wait.end();
    this.#scrollGoal = offset;
    if (this.#viewer.isOpen) this.#viewer.close();
    for (const link of document.querySelectorAll("#views a")) {
      const isCurrent = viewKind(parseHash(link.hash)) === viewKind(route);
      if (isCurrent) link.ariaCurrent = "page";
      else link.removeAttribute("aria-current");
    }
    document.documentElement.classList.toggle("in-timeline", route.isTimeline);
    document.documentElement.classList.toggle(
      "in-root", !route.isTimeline && route.folder === "");
    document.documentElement.classList.toggle("in-duplicates", route.view === DUPLICATES);
    this.#search.show(route.query);
    const visit = new VISITS[viewKind(route)](this.#visitParts, route, this.#visit);
    this.#visit = visit;
    if (!visit.replacesLater) {
      this.#scrubber.clear();
      this.#grid.clear();
    }
    this.#setTitle(route.image);
    await visit.start();
    if (this.#controls !== null && visit instanceof FolderVisit) await this.#checkLibrary();
    if (visit === this.#visit) this.#checkLater();
  }

  get #visitParts() {
    return {
      connection: this.#connection, loader: this.#loader, grid: this.#grid, sort: this.#sort,
      duplicatesView: this.#duplicatesView, folderView: this.#folderView, timelineView: this.#timelineView,
      known: this.#known,
      show: (visit) => this.#show(visit),
    };
  }

  /** Shows the listing of a visit, complete or not. */
  #show(visit) {
    if (visit !== this.#visit) return;
    if (visit.listing === null) {
      this.#scrubber.clear();
      this.#grid.clear();
      return;
    }
    if (this.#controls !== null) this.#controls.selection.listing = visit.listing;
    // Before the tiles, which show the marks.
    this.#controls?.marks.settle(visit.listing.requested ?? -Infinity);
    this.#grid.show(visit.listing);
    this.#slideshow.replace(visit.listing);
    // The scrubber covers all images.
    if (!visit.listing.isPartial) this.#scrubber.show(visit.sections, visit.listing.total);
    this.#scrollToGoal();
    this.#showImage();
  }

  #reorder() {
    scrollTo({ top: 0, behavior: "instant" });
    this.#visit.reorder();
  }

  #scrollToGoal() {
    if (this.#scrollGoal === null) return;
    scrollTo({ top: this.#scrollGoal, behavior: "instant" });
    // The restored offset may be below the received pages.
    if (Math.abs(scrollY - this.#scrollGoal) < 2) this.#scrollGoal = null;
  }

  #setTitle(image) {
    document.title = `${image ?? this.#visit.title} – Calotype`;
  }

  async #showImage() {
    const { hash } = location;
    const route = parseHash(hash);
    const visit = this.#visit;
    this.#setTitle(route.image);
    if (route.image === null) {
      if (this.#viewer.isOpen) this.#viewer.close();
      return;
    }
    const { listing } = visit;
    const index = await visit.locate(route);
    // A changed listing is shown by another call.
    const isCurrent = visit === this.#visit && listing === visit.listing && hash === location.hash;
    if (index === null || !isCurrent) return;
    if (index >= 0) {
      this.#viewer.show(listing, index);
      this.#grid.reveal(index);
    } else {
      this.#replaceHash(visit.view);
      if (this.#viewer.isOpen) this.#viewer.close();
    }
  }

  #moved(index) {
    this.#replaceHash(this.#visit.hash(index));
    this.#grid.reveal(index);
  }

  #closed(index, listing) {
    const { view, image } = parseHash(location.hash);
    if (view !== this.#visit.view || view !== listing.view) return;
    this.#grid.focus(index);
    if (image === null) return;
    if (history.state?.isAboveGrid) history.back();
    else this.#replaceHash(view);
  }

  #replaceHash(hash) {
    history.replaceState(history.state, "", hash);
    this.#setTitle(parseHash(hash).image);
  }

  #checkLater() {
    if (document.hidden) return;
    const visit = this.#visit;
    const generation = visit instanceof FolderVisit ? this.#generation : visit.generation ?? null;
    this.#wait.start(generation, visit.pollInterval);
  }

  /** Updates covers and favourites of a folder; returns the generation of the library, null on an error. */
  async #checkLibrary() {
    try {
      const status = await fetchStatus();
      if (status === null) return null;
      this.#showCovers(status);
      const { folder } = parseHash(location.hash);
      if (status.canMark) await this.#controls.marks.refresh(folder, status.generation);
      this.#viewer.showMarks();
      return status.generation;
    } catch {
      // Repeated with the next check.
      return null;
    }
  }

  async #check() {
    const visit = this.#visit;
    if (visit === null || document.hidden) return;
    // Before the listing, so that a change of both is not missed.
    if (this.#controls !== null && visit instanceof FolderVisit) {
      this.#generation = (await this.#checkLibrary()) ?? this.#generation;
    }
    await visit.check();
    if (visit === this.#visit) this.#checkLater();
  }
}

/** Milliseconds after which the files of the page are kept. */
const KEPT_AFTER = 2000;

const VISITS = { timeline: TimelineVisit, duplicates: DuplicatesVisit, folder: FolderVisit };

/** Returns the kind of view of a route. */
function viewKind({ view, isTimeline }) {
  if (isTimeline) return "timeline";
  return view === DUPLICATES ? "duplicates" : "folder";
}

/** Whether the root folder has folders only. */
async function isWithoutImages() {
  try {
    const { page } = await fetchListing("", 0, { limit: 1 });
    return page.total === 0;
  } catch {
    return false;
  }
}

document.documentElement.lang = language;
localize(document);
new Gallery().start();
// Later, since the start of the worker would delay the first images.
setTimeout(keepPage, KEPT_AFTER);

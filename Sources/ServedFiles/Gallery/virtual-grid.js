// SPDX-License-Identifier: Apache-2.0

import { BlankTiles } from "./blank-tiles.js";
import { gapFor } from "./density.js";
import { GridKeyboard } from "./grid-keyboard.js";
import { Headings } from "./headings.js";
import { imageAt, justifiedRows, rowAt } from "./layout.js";
import { PlaceholderPainter } from "./placeholder-painter.js";
import { Pace, ScrollPace } from "./scroll-pace.js";
import { ScrollSpace } from "./scroll-space.js";
import { placeAfter } from "./text.js";
import { Tile } from "./tile.js";

/** The maximum number of tiles, of three elements each. */
const MOST_TILES = 96;

/** The step of the base offset for content above the browsers' limit. */
const BASE_STEP = 1_000_000;

/** Milliseconds without scrolling after which properties are requested, even if images are not loaded yet. */
const PASSED_AFTER = 40;

/** Added to the distance of invisible tiles, so that visible tiles load first. */
const OFF_SCREEN = 1e6;

/** Any number of images in justified rows, with tiles only near the visible part. */
export class VirtualGrid {
  layout = justifiedRows([], 1, 1, 0);
  /** Called after a layout. */
  onLayout = () => {};
  /** Called with a tile that shows another image. */
  onTile = () => {};
  /** Called before drawing in a frame in which the page was scrolled. */
  onScroll = () => {};
  listing = null;
  headings;
  #element;
  #list;
  // What is moved to the base of proportional scrolling.
  #moved;
  #header;
  #loader;
  #painter = new PlaceholderPainter();
  #rowHeight;
  #tiles = new Map();
  #tileOf = new WeakMap();
  // During an update: the elements of tiles that are no longer needed and have no image, in their order.
  #reusable = [];
  // Draws images that leave in the next frame; they have no tile.
  #blank;
  #aspects = [];
  #space = new ScrollSpace(0, 1);
  #pace;
  #keyboard = new GridKeyboard();
  #active = 0;
  #base = 0;
  #frame = 0;
  // The timer of properties that are requested unless scrolling continues.
  #passing = 0;
  #width = 0;
  // The images near the window: those with tiles, without the focused one.
  #near = [0, 0];
  #scrolledTo = 0;
  // The last position of the grid; reading it may cause a layout.
  #origin = 0;
  #kept = { scrollY: -1, anchor: null };

  /**
   * @param {HTMLElement} element has the height of the content; it contains the headings and the list of tiles
   * @param {HTMLElement} header covers the top of the window
   * @param {(width: number, height: number, meanAspect: number) => number} rowHeight
   */
  constructor(element, header, loader, rowHeight) {
    this.#element = element;
    const [headings, blank, list] = element.children;
    this.headings = new Headings(headings);
    this.#blank = new BlankTiles(blank);
    this.#list = list;
    this.#moved = [headings, blank, list];
    this.#header = header;
    this.#loader = loader;
    this.#rowHeight = rowHeight;
    this.#pace = new ScrollPace(() => {
      loader.isHeld = this.#pace.current === Pace.FLYING;
      loader.isMoving = this.#pace.current === Pace.MOVING;
      // Images that fade in would take time of the frames that scroll.
      element.classList.toggle("moving", this.#pace.current !== Pace.RESTING);
      for (const tile of this.#tiles.values()) tile.load(this.#pace.current);
      // While invisible, and before the ends of page and content diverge.
      if (this.#pace.current === Pace.RESTING && this.#space.isOff) this.#scrollTo(this.#view().top);
      this.#updateSoon();
    });
    addEventListener("scroll", () => this.#updateSoon(), { passive: true });
    addEventListener("resize", () => this.#updateSoon());
    new ResizeObserver(() => this.#resized()).observe(element);
    this.#list.addEventListener("keydown", (event) => this.#pressed(event));
    this.#list.addEventListener("focusin", (event) => {
      const tile = this.tileAt(event.target);
      if (tile !== undefined) this.#setActive(tile.index);
    });
    this.#list.addEventListener("pointerdown", () => this.#keyboard.reset());
  }

  /** Shows a new or changed listing; visible images keep their position. */
  show(listing) {
    if (listing.view !== this.listing?.view) this.clear();
    const anchor = this.#anchor();
    const spare = new Map();
    for (const tile of this.#tiles.values()) spare.set(tile.key, tile);
    this.#tiles.clear();
    const wasEmpty = (this.listing?.count ?? 0) === 0;
    this.#active = wasEmpty ? 0 : Math.max(0, listing.find(this.listing.marker(this.#active)));
    const focused = this.#focusedTile();
    if (focused !== undefined) focused.index = this.#active;
    this.listing = listing;
    this.#aspects = listing.aspects;
    this.#layOut(anchor, spare);
  }

  /** Removes all images until the next listing arrives. */
  clear() {
    if (this.listing === null) return;
    for (const tile of this.#tiles.values()) tile.remove();
    this.#tiles.clear();
    this.headings.clear();
    this.#blank.show(this.layout, [], 0);
    this.listing = null;
    this.#aspects = [];
    this.#active = 0;
    this.#kept = { scrollY: -1, anchor: null };
    this.#layOut(null);
  }

  /** Statistics of the tiles. */
  get statistics() {
    const tiles = [...this.#tiles.values()];
    const requests = tiles.map((tile) => tile.shown).filter((request) => request !== null);
    const sharp = tiles.filter((tile) => tile.isSharp).length;
    const empty = tiles.filter((tile) => tile.shown === null && !tile.hasFailed).length;
    return {
      pace: this.#pace.current,
      tiles: { sharp, empty: empty + this.#blank.count, coarse: tiles.length - sharp - empty },
      steps: requests.map((request) => request.step),
      requests,
    };
  }

  /** Labels each tile with the text that `describe` returns for its request; null for none. */
  label(describe) {
    for (const { link, shown } of this.#tiles.values()) {
      if (describe === null || shown === null) delete link.dataset.label;
      else link.dataset.label = describe(shown);
    }
  }

  /** Repeats the layout, for example after a change of density. */
  relayout() {
    this.#layOut(this.#anchor());
  }

  /** The images near the window, as `[first, end]`. */
  get near() {
    return this.#near;
  }

  /** Whether the page is not being scrolled. */
  get isResting() {
    return this.#pace.current === Pace.RESTING;
  }

  /** Shows images whose properties have arrived. */
  fill() {
    for (const tile of this.#tiles.values()) {
      tile.fill(this.listing, this.layout, this.#pace.current);
      this.onTile(tile);
    }
    if (this.#blank.count > 0) this.#update();
  }

  /** Waits until the first visible image is on the screen, or all of them, at most until the time `end`. */
  async untilShown({ all, end }) {
    const view = this.#view();
    const isMissing = (tile) => tile.shown === null && !tile.hasFailed;
    const waits = () => {
      const visible = [...this.#tiles].filter(([index]) => this.#isVisible(index, view)).map(([, tile]) => tile);
      return all ? visible.some(isMissing) : visible.every(isMissing);
    };
    while (waits() && performance.now() < end) await new Promise(requestAnimationFrame);
    // After the frame.
    await new Promise((done) => setTimeout(done));
  }

  /** The tab stop among the images. */
  get active() {
    return this.#active;
  }

  get tiles() {
    return this.#tiles.values();
  }

  /** Returns the tile that contains an element; undefined for others. */
  tileAt(target) {
    return this.#tileOf.get(target.closest?.("li"));
  }

  /** Returns the image to which a key moves; null for other keys. */
  keyTarget(key) {
    return this.#keyboard.target(key, this.#active, this.layout, innerHeight);
  }

  /** Returns the image at a point of the window, or the nearest one of its row; -1 without images. */
  imageAt(clientX, clientY) {
    const { left } = this.#element.getBoundingClientRect();
    return imageAt(this.layout, clientX - left, this.#view().top + clientY);
  }

  /** Scrolls an image into view, and makes it the tab stop. */
  reveal(index) {
    if (index >= this.layout.w.length) return;
    this.#setActive(index);
    const top = this.layout.y[index];
    const bottom = top + this.layout.h[index];
    const view = this.#view();
    const margin = this.layout.h[index] / 4;
    const above = view.top + this.#header.offsetHeight;
    if (top < above) this.#scrollTo(top - margin - this.layout.heading - this.#header.offsetHeight);
    else if (bottom > view.top + view.height) this.#scrollTo(bottom + margin - view.height);
    this.#update();
  }

  /** Moves the focus to an image, visible or not. */
  focus(index) {
    this.reveal(index);
    this.#tiles.get(index)?.link.focus({ preventScroll: true });
  }

  /** Returns the first image of the topmost row at a scroll offset; -1 for none. */
  indexAtScroll(offset) {
    const top = this.#space.toContent(offset - this.#origin) + this.layout.heading;
    const row = rowAt(this.layout, top);
    return row < 0 ? -1 : this.layout.rowStart[row];
  }

  /** Returns the scroll offset at which an image is in the topmost row. */
  scrollOffsetOf(index) {
    const top = (this.layout.y[index] ?? 0) - this.layout.heading;
    return this.#origin + this.#space.toElement(top);
  }

  #resized() {
    if (this.#element.clientWidth !== this.#width) this.relayout();
  }

  #layOut(anchor, spare = new Map()) {
    this.#width = this.#element.clientWidth;
    let sum = 0;
    for (let i = 0; i < this.#aspects.length; i += 1) sum += this.#aspects[i];
    const mean = sum / Math.max(1, this.#aspects.length);
    const rowHeight = this.#rowHeight(this.#width, innerHeight, Math.max(0.3, mean));
    const sections = this.listing?.sections ?? null;
    const gap = gapFor(this.#width);
    this.layout = justifiedRows(this.#aspects, this.#width, rowHeight, gap, sections);
    this.#space = new ScrollSpace(this.layout.height, innerHeight);
    this.#element.style.height = `${this.#space.elementHeight}px`;
    for (const [index, tile] of this.#tiles) {
      if (index >= this.layout.w.length) continue;
      tile.place(this.listing, this.layout, index, this.#base, this.#pace.current);
    }
    if (anchor !== null && this.layout.w.length > 0) {
      const found = this.listing.find(anchor.marker);
      const index = found >= 0 ? found : Math.min(anchor.index, this.layout.w.length - 1);
      this.#scrollTo(this.layout.y[index] - anchor.offset);
      this.#kept = { scrollY, anchor };
    }
    this.#update(spare);
    this.onLayout();
  }

  /** The visible range in content coordinates; `origin` is the position of the grid in the page. */
  #view() {
    const origin = this.#element.getBoundingClientRect().top + scrollY;
    const headerHeight = this.#header.offsetHeight;
    this.#origin = origin - headerHeight;
    const elementTop = scrollY - origin;
    const top = this.#space.follow(elementTop);
    return { origin, headerHeight, elementTop, top, height: innerHeight };
  }

  #scrollTo(contentTop) {
    const { origin } = this.#view();
    scrollTo({ top: Math.round(origin + this.#space.pin(contentTop)), behavior: "instant" });
  }

  /** The image whose screen position a layout keeps; null at the top of the page. */
  #anchor() {
    const { top, elementTop } = this.#view();
    if (elementTop <= 0 || this.layout.rowCount === 0) return null;
    // Kept until the next scroll; otherwise changes of density would drift from row to row.
    if (scrollY === this.#kept.scrollY) return this.#kept.anchor;
    const header = this.#header.offsetHeight;
    const index = this.layout.rowStart[rowAt(this.layout, top + header)];
    return { index, marker: this.listing.marker(index), offset: this.layout.y[index] - top };
  }

  #updateSoon() {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => this.#update());
  }

  /** Creates the required tiles, and reuses `spare` ones that show the same image. */
  #update(spare = new Map()) {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (this.listing === null) return;
    // All positions are read before the first change, which would cause a second layout.
    const view = this.#view();
    const { scrollY: offset } = window;
    // Only scrolling counts as movement; content inserted above the grid also moves it.
    if (offset === this.#scrolledTo) this.#pace.pushed(view.top);
    else this.#pace.moved(view.top, view.height);
    if (offset !== this.#scrolledTo) this.onScroll();
    this.#scrolledTo = offset;
    const wanted = this.#wanted(view);
    const blank = this.#takeBlank(wanted);
    this.#removeUnwanted(wanted, spare);
    // Only then, so that no tile is moved that leaves: fast scrolling changes the base in every frame.
    if (this.#space.isProportional || this.#base !== 0) this.#rebase(view);
    this.#blank.show(this.layout, blank, this.#base);
    this.#requestDetails();
    // In the order of the images, which is the reading order.
    let previous = null;
    for (const index of wanted) {
      const tile = this.#tiles.get(index) ?? this.#makeTile(index, spare);
      tile.priority = this.#priority(index, view);
      placeAfter(previous, tile.element, this.#list, this.#reusable);
      previous = tile.element;
    }
    for (const element of this.#reusable.splice(0)) element.remove();
    this.#keepActive(view);
    // With the others, since the first formatted date takes time in which images could be shown.
    if (!this.listing.isPartial) this.#showHeadings();
  }

  /** Removes and returns the images without properties if those of this frame will have left in the next one. */
  #takeBlank(wanted) {
    if (!this.#isPassing || this.#pace.stride < 1) return [];
    const blank = [...wanted].filter((index) => index !== this.#active && this.listing.image(index) === null);
    for (const index of blank) wanted.delete(index);
    return blank;
  }

  /** Whether the page is scrolled too fast to see images, and not by a single jump. */
  get #isPassing() {
    return this.#pace.current === Pace.FLYING && !this.#pace.isFirst;
  }

  /** Requests the properties of the images near the window, unless they would leave it before. */
  #requestDetails() {
    clearTimeout(this.#passing);
    const request = () => this.listing?.need(...this.#near);
    if (this.#isPassing) this.#passing = setTimeout(request, PASSED_AFTER);
    else request();
  }

  #showHeadings() {
    const { listing, layout } = this;
    if (layout.heading === 0 || layout.rowCount === 0) return;
    const [first, end] = this.#near;
    const [firstDay, lastDay] = [first, end - 1].map((index) => listing.days.dayOf(index));
    this.headings.show(listing, layout, firstDay, lastDay, this.#base);
  }

  // Removed first, so that remaining tiles need not be moved, which would remove their focus. Blank ones are
  // used again.
  #removeUnwanted(wanted, spare) {
    for (const [index, tile] of this.#tiles) {
      if (wanted.has(index)) continue;
      this.#tiles.delete(index);
      if (tile.picture === null) this.#reusable.push(tile.element);
      else tile.remove();
    }
    const indexOf = (element) => this.#tileOf.get(element).index;
    this.#reusable.sort((one, other) => indexOf(one) - indexOf(other));
    if (spare.size === 0) return;
    const keys = new Set(Array.from(wanted, (index) => this.listing.key(index)));
    for (const [key, tile] of spare) {
      if (keys.has(key)) continue;
      spare.delete(key);
      tile.remove();
    }
  }

  #makeTile(index, spare) {
    const key = this.listing.key(index);
    const tile = spare.get(key) ?? this.#tileOf.get(this.#reusable.shift())
      ?? new Tile(this.listing, index, this.#loader, this.#painter);
    spare.delete(key);
    tile.place(this.listing, this.layout, index, this.#base, this.#pace.current);
    tile.link.tabIndex = index === this.#active ? 0 : -1;
    this.#tiles.set(index, tile);
    this.#tileOf.set(tile.element, tile);
    this.onTile(tile);
    return tile;
  }

  /** Returns the images with tiles: visible ones, more ahead than behind, loading ones nearby, and the focused one. */
  #wanted(view) {
    if (this.layout.rowCount === 0) {
      this.#near = [0, 0];
      return new Set();
    }
    const isFlying = this.#pace.current === Pace.FLYING;
    const nearby = this.#reached(view);
    const [first, end] = isFlying ? this.#rows(view, this.#flyingReach) : nearby;
    this.#near = [first, end];
    // Removing the focused tile would lose the focus.
    const focused = this.#focusedTile()?.index ?? -1;
    const others = focused >= 0 && focused < this.layout.w.length ? [focused] : [];
    // An image that is in flight and needed at rest would be requested again.
    for (const [index, tile] of isFlying ? this.#tiles : []) {
      if (index >= nearby[0] && index < nearby[1] && tile.isLoading) others.push(index);
    }
    others.sort((one, other) => one - other);
    const wanted = new Set(others.filter((index) => index < first));
    for (let index = first; index < end; index += 1) wanted.add(index);
    for (const index of others) if (index >= end) wanted.add(index);
    return wanted;
  }

  /** Returns the first image near the window and the one after the last, at most `MOST_TILES` apart if possible. */
  #reached(view) {
    for (let screens = 1; ; screens = screens > 0.1 ? screens * 0.75 : 0) {
      const [first, end] = this.#rows(view, screens);
      if (end - first < MOST_TILES || screens === 0) return [first, end];
    }
  }

  /** Returns the first image within about `reach` screens of the window and the one after the last. */
  #rows({ top, height }, reach) {
    const [ahead, behind] = [height * reach * 1.3, height * reach * 0.7];
    const [above, below] = this.#pace.direction > 0 ? [behind, ahead] : [ahead, behind];
    const { rowStart } = this.layout;
    const first = rowStart[Math.max(0, rowAt(this.layout, top - above))];
    return [first, rowStart[rowAt(this.layout, top + height + below) + 1]];
  }

  /** During fast scrolling nothing is loaded, and tiles outside the window would leave before use. */
  get #flyingReach() {
    return this.#pace.stride < 1 ? 0.2 : 0;
  }

  #focusedTile() {
    return this.#tileOf.get(document.activeElement?.closest("li"));
  }

  #priority(index, view) {
    const centre = this.layout.y[index] + this.layout.h[index] / 2 - view.top - view.height / 2;
    const across = this.layout.x[index] + this.layout.w[index] / 2 - this.#width / 2;
    const distance = Math.abs(centre) + Math.abs(across) / 1000;
    if (this.#isVisible(index, view)) return distance;
    const isBehind = centre * this.#pace.direction < 0;
    return OFF_SCREEN + (isBehind ? 2 * distance : distance);
  }

  #isVisible(index, view) {
    const top = this.layout.y[index];
    return top < view.top + view.height && top + this.layout.h[index] > view.top;
  }

  /** Moves the list and its tiles to the base of proportional scrolling. */
  #rebase(view) {
    const base = this.#space.isProportional ? Math.floor(view.top / BASE_STEP) * BASE_STEP : 0;
    if (base !== this.#base) {
      this.#base = base;
      for (const [index, tile] of this.#tiles) {
        tile.place(this.listing, this.layout, index, base, this.#pace.current);
      }
    }
    const shift = Math.round(view.elementTop - view.top + base);
    const transform = this.#space.isProportional ? `translateY(${shift}px)` : "";
    for (const part of this.#moved) part.style.transform = transform;
  }

  #setActive(index) {
    const before = this.#tiles.get(this.#active);
    if (before !== undefined) before.link.tabIndex = -1;
    this.#active = index;
    const now = this.#tiles.get(index);
    if (now !== undefined) now.link.tabIndex = 0;
  }

  /** Sets the tab stop to the active tile, or to the first visible one. */
  #keepActive(view) {
    if (this.#tiles.has(this.#active) || this.layout.rowCount === 0) return;
    const row = rowAt(this.layout, view.top + view.headerHeight);
    this.#setActive(this.layout.rowStart[Math.max(0, row)]);
  }

  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = this.keyTarget(event.key);
    if (target === null) return;
    event.preventDefault();
    this.focus(target);
  }
}

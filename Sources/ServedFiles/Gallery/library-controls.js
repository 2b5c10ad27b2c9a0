// SPDX-License-Identifier: Apache-2.0

import { Marks } from "./marks.js";
import { Selection } from "./selection.js";
import { SelectionBar } from "./selection-bar.js";
import { SelectionGestures } from "./selection-gestures.js";
import { starsOf } from "./rating.js";
import { t } from "./strings.js";
import { element } from "./text.js";

/** Selection and favourites, for a server with an index of the library. */
export class LibraryControls {
  selection = new Selection();
  marks = new Marks();
  /** Called with the images of a slideshow. */
  onPlay = () => {};
  /** Called with the paths of images to share. */
  onShare = () => {};
  #grid;
  #bar;
  #hovered = null;
  #canMark = false;

  /** @param {HTMLElement} element contains the tiles */
  constructor(element, grid) {
    this.#grid = grid;
    this.#bar = new SelectionBar(document.querySelector("#selection"), this.selection, this.marks);
    this.#bar.onPlay = (images) => this.onPlay(images);
    this.#bar.onShare = (paths) => this.onShare(paths);
    new SelectionGestures(element, grid, this.selection);
    this.selection.listing = grid.listing;
    this.selection.onChange = () => this.#changed();
    this.marks.onChange = () => this.#changed();
    grid.onTile = (tile) => this.#mark(tile);
    grid.headings.decorate = (heading, section) => this.#decorate(heading, section);
    grid.headings.redecorate();
    for (const type of ["pointerover", "focusin"]) {
      element.addEventListener(type, (event) => this.#hover(grid.tileAt(event.target)));
    }
    document.addEventListener("keydown", (event) => this.#pressed(event));
    this.#changed();
  }

  /** Lets the user mark images. */
  allowMarks() {
    this.#canMark = true;
    this.#bar.allowMarks();
  }

  /** Marks the selected images, or the one with the focus. */
  #pressed(event) {
    if (!this.#canMark || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    const stars = starsOf(event.key);
    if (stars === null && event.key !== "f") return;
    const focused = this.#grid.tileAt(event.target)?.picture ?? null;
    const { images } = this.selection;
    const marked = images.length > 0 ? images : [focused].filter((image) => image !== null);
    if (marked.length === 0) return;
    event.preventDefault();
    this.#bar.mark((chosen) =>
      stars === null ? this.marks.toggleFavourites(chosen) : this.marks.rate(chosen, stars), marked);
  }

  #changed() {
    const isSelecting = this.selection.size > 0;
    document.documentElement.classList.toggle("is-selecting", isSelecting);
    for (const tile of this.#grid.tiles) this.#mark(tile);
    this.#grid.headings.redecorate();
    this.#bar.show();
  }

  #hover(tile) {
    if (tile === undefined || tile === this.#hovered) return;
    this.#hovered = tile;
    this.#mark(tile);
  }

  #mark(tile) {
    const { picture } = tile;
    if (picture === null) return;
    tile.mark({
      isFavourite: this.marks.isFavourite(picture),
      stars: this.marks.rating(picture),
      isSelected: this.selection.has(picture),
      hasCheck: tile === this.#hovered || this.selection.size > 0,
    });
  }

  #decorate(heading, section) {
    const { listing } = this.#grid;
    const [first, end] = listing.days.range(section);
    let check = heading.querySelector(".check");
    if (check === null) {
      check = element("button", "check");
      check.type = "button";
      heading.append(check);
    }
    check.ariaLabel = t("selectDay", { day: heading.firstElementChild.textContent });
    check.ariaPressed = this.selection.hasRange(first, end);
    check.onclick = () =>
      this.selection.setRange(first, end, !this.selection.hasRange(first, end));
  }
}

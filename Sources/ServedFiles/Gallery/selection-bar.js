// SPDX-License-Identifier: Apache-2.0

import { requestDownload } from "./library.js";
import { imageHash } from "./routing.js";
import { MOST_SELECTED } from "./selection.js";
import { copyText } from "./share.js";
import { t } from "./strings.js";
import { RatingControl } from "./rating.js";
import { element, number } from "./text.js";

const SIZES = [4096, 2048, 1024];
const SIDECARS = "xmp";

/** How long a message is shown, in milliseconds. */
const SHOWN_FOR = 6000;

/** The number of selected images, and what can be done with them. */
export class SelectionBar {
  /** Called with the images of a slideshow. */
  onPlay = () => {};
  /** Called with the paths of images to share. */
  onShare = () => {};
  #bar;
  #selection;
  #marks;
  #parts;
  #rating;
  #timer = 0;
  #offersSidecars = false;

  /** @param {HTMLElement} bar a toolbar */
  constructor(bar, selection, marks) {
    this.#bar = bar;
    this.#selection = selection;
    this.#marks = marks;
    const names = ["count", "size", "download", "favourite", "rating", "slideshow", "copy", "share", "clear",
      "note"];
    this.#parts = Object.fromEntries(
      names.map((name) => [name, bar.querySelector(`[data-part="${name}"]`)]));
    const { download, favourite, copy, clear } = this.#parts;
    download.addEventListener("click", () => this.#download());
    favourite.addEventListener("click", () => this.mark((images) => marks.toggleFavourites(images)));
    this.#rating = new RatingControl(this.#parts.rating);
    this.#rating.onRate = (stars) => this.mark((images) => marks.rate(images, stars));
    this.#parts.slideshow.addEventListener("click", () => this.onPlay(selection.images));
    copy.addEventListener("click", () => this.#copy());
    this.#parts.share.addEventListener("click", () => this.onShare(selection.paths));
    clear.addEventListener("click", () => selection.clear());
    selection.onFull = () => this.#tell(t("selectionFull", { number: number(MOST_SELECTED) }));
  }

  /** Offers what only clients that may mark images can do. */
  allowMarks() {
    this.#offersSidecars = true;
    if (this.#parts.size.options.length > 0) this.#offerSidecars();
  }

  /** Shows the current selection. */
  show() {
    const { size } = this.#selection;
    this.#showBar();
    if (size === 0) return;
    if (this.#parts.size.options.length === 0) this.#offerSizes();
    const count = t("selected", { number: number(size) });
    if (this.#parts.count.textContent !== count) this.#parts.count.textContent = count;
    const { images } = this.#selection;
    this.#parts.favourite.ariaPressed = images.every((image) => this.#marks.isFavourite(image));
    this.#rating.show(this.#marks.commonRating(images));
  }

  #offerSizes() {
    const sizes = SIZES.map((side) => new Option(t("upTo", { number: number(side) }), `${side}x${side}`));
    this.#parts.size.append(new Option(t("originals"), ""), ...sizes);
    if (this.#offersSidecars) this.#offerSidecars();
  }

  #offerSidecars() {
    this.#parts.size.append(new Option(t("sidecars"), SIDECARS));
  }

  async #download() {
    const { size, download } = this.#parts;
    download.disabled = true;
    try {
      const link = element("a");
      const contents = size.value === SIDECARS ? { sidecars: true } : { size: size.value || null };
      link.href = await requestDownload(this.#selection.paths, contents);
      link.download = "";
      link.click();
    } catch (error) {
      this.#tell(t("downloadFails", { reason: error.message }));
    }
    download.disabled = false;
  }

  /** Changes marks of images, those of the selection if no others are given, and shows an error. */
  async mark(change, images = this.#selection.images) {
    try {
      await change(images);
    } catch (error) {
      this.#tell(t("markFails", { reason: error.message }));
    }
  }

  #copy() {
    const page = location.href.split("#")[0];
    const addresses = this.#selection.images.map(({ folder, name }) => page + imageHash(folder, name));
    copyText(addresses.join("\n"), this.#parts.copy, this.#parts.note);
  }

  /** Without a selection, only a note is shown. */
  #showBar() {
    const { size } = this.#selection;
    this.#bar.hidden = size === 0 && this.#parts.note.textContent === "";
    this.#bar.classList.toggle("is-note", size === 0);
  }

  #tell(text) {
    this.#write(text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(""), SHOWN_FOR);
  }

  #write(text) {
    this.#parts.note.textContent = text;
    this.#showBar();
  }
}

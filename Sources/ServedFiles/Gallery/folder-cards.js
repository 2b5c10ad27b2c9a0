// SPDX-License-Identifier: Apache-2.0

import { coversURL } from "./library.js";
import { folderHash, join } from "./routing.js";
import { t } from "./strings.js";
import { counted, number } from "./text.js";

/** The number of folders whose covers one image contains, in rows of ten. */
const SHEET = 70;
const COLUMNS = 10;

/** The side of a cover, in pixels. */
const COVER = 256;

/** The maximum number of folder cards before “Show all”. */
const FIRST_CARDS = SHEET;

/** The distance from the window at which covers are loaded. */
const REACH = "400px";

/** The subfolders of a folder, with covers if the server has an index of the library. */
export class FolderCards {
  #section;
  #list;
  #more;
  #template;
  #shown = "";
  #hasCovers = false;
  #again = () => {};
  // Loads the covers of cards near the window.
  #observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) this.#load(target);
  }, { rootMargin: REACH });

  /** @param {HTMLElement} section with a list and a button */
  constructor(section, template) {
    this.#section = section;
    this.#list = section.querySelector("ul");
    this.#more = section.querySelector("button");
    this.#template = template;
  }

  /** Shows covers from now on. */
  showCovers() {
    this.#hasCovers = true;
    this.#list.classList.add("covers");
    this.#again();
  }

  clear() {
    this.#section.hidden = true;
    this.#list.replaceChildren();
    this.#observer.disconnect();
    this.#shown = "";
    this.#again = () => {};
  }

  show({ folder, folders, revision }) {
    this.#again = () => this.show({ folder, folders, revision });
    const shown = JSON.stringify([folder, folders, this.#hasCovers && revision]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#observer.disconnect();
    const count = folders.name.length;
    const cards = (first, end) => Array.from({ length: end - first }, (_, i) =>
      this.#card(folder, folders, first + i, revision));
    const first = Math.min(count, FIRST_CARDS);
    this.#list.replaceChildren(...cards(0, first));
    this.#more.hidden = count <= first;
    this.#more.textContent = t("showAllFolders", { number: number(count) });
    this.#more.onclick = () => {
      this.#more.hidden = true;
      const rest = cards(first, count);
      this.#list.append(...rest);
      rest[0].querySelector("a").focus();
    };
    this.#section.hidden = count === 0;
  }

  #card(folder, folders, index, revision) {
    const item = this.#template.content.cloneNode(true).firstElementChild;
    const [name, images] = [folders.name[index], folders.pictures[index]];
    const link = item.querySelector("a");
    link.href = folderHash(join(folder, name));
    link.title = name;
    item.querySelector("strong").textContent = name;
    item.querySelector("small").textContent = images > 0 ? counted("images", images) : "";
    if (this.#hasCovers) {
      const cell = index % SHEET;
      const offset = index - cell;
      const length = Math.min(SHEET, folders.name.length - offset);
      const cover = item.querySelector(".cover");
      cover.dataset.sheet = coversURL(folder, offset, length, COVER, revision);
      const [column, row] = [cell % COLUMNS, Math.floor(cell / COLUMNS)];
      const rows = Math.ceil(length / COLUMNS);
      // A pixel more for each cell, so that rounding does not show a line of the next one.
      cover.style.backgroundSize =
        `calc(${COLUMNS * 100}% + ${COLUMNS}px) calc(${rows * 100}% + ${rows}px)`;
      const across = (column / (COLUMNS - 1)) * 100;
      cover.style.backgroundPosition = `${across}% ${rows > 1 ? (row / (rows - 1)) * 100 : 0}%`;
      this.#observer.observe(item);
    }
    return item;
  }

  #load(item) {
    const { dataset, style } = item.querySelector(".cover");
    // A folder can be part of an image that has been loaded: the browser requests it once.
    style.backgroundImage = `url("${dataset.sheet}")`;
    this.#observer.unobserve(item);
  }
}

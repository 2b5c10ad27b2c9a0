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
  #folder = "";
  #revision = "";
  #count = 0;
  // The generation of the library; null without covers.
  #generation = null;
  // The loads of sheets by URL.
  #sheets = new Map();
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

  /** Shows the covers of a generation of the library from now on. */
  showCovers(generation) {
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#sheets.clear();
    this.#list.classList.add("covers");
    this.#observer.disconnect();
    for (const item of this.#list.children) this.#observer.observe(item);
  }

  clear() {
    this.#section.hidden = true;
    this.#list.replaceChildren();
    this.#observer.disconnect();
    this.#sheets.clear();
    this.#shown = "";
  }

  show({ folder, folders, revision }) {
    this.#revision = revision;
    const shown = JSON.stringify([folder, folders]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#folder = folder;
    this.#count = folders.name.length;
    this.#observer.disconnect();
    this.#list.replaceChildren();
    const first = Math.min(this.#count, FIRST_CARDS);
    this.#append(folders, 0, first);
    this.#more.hidden = this.#count <= first;
    this.#more.textContent = t("showAllFolders", { number: number(this.#count) });
    this.#more.onclick = () => {
      this.#more.hidden = true;
      this.#append(folders, first, this.#count);
      this.#list.children[first].querySelector("a").focus();
    };
    this.#section.hidden = this.#count === 0;
  }

  #append(folders, first, end) {
    const cards = Array.from({ length: end - first }, (_, i) => this.#card(folders, first + i));
    this.#list.append(...cards);
    if (this.#generation !== null) for (const card of cards) this.#observer.observe(card);
  }

  #card(folders, index) {
    const item = this.#template.content.cloneNode(true).firstElementChild;
    const [name, images] = [folders.name[index], folders.pictures[index]];
    const link = item.querySelector("a");
    link.href = folderHash(join(this.#folder, name));
    link.title = name;
    item.dataset.index = index;
    item.querySelector("strong").textContent = name;
    item.querySelector("small").textContent = images > 0 ? counted("images", images) : "";
    return item;
  }

  /** Loads the sheet of a card; the previous cover stays until then. */
  async #load(item) {
    this.#observer.unobserve(item);
    // The observer may report cards of the previous folder.
    if (!item.isConnected) return;
    const index = Number(item.dataset.index);
    const cell = index % SHEET;
    const length = Math.min(SHEET, this.#count - (index - cell));
    const url = coversURL(this.#folder, {
      offset: index - cell, limit: length, side: COVER, revision: this.#revision, v: this.#generation,
    });
    if (!this.#sheets.has(url)) this.#sheets.set(url, loaded(url));
    // A sheet that arrives late must not replace a newer one.
    item.dataset.sheet = url;
    if (!(await this.#sheets.get(url)) || !item.isConnected || item.dataset.sheet !== url) return;
    const { style } = item.querySelector(".cover");
    const [column, row] = [cell % COLUMNS, Math.floor(cell / COLUMNS)];
    const rows = Math.ceil(length / COLUMNS);
    style.backgroundImage = `url("${url}")`;
    // A pixel more for each cell, so that rounding does not show a line of the next one.
    style.backgroundSize = `calc(${COLUMNS * 100}% + ${COLUMNS}px) calc(${rows * 100}% + ${rows}px)`;
    const down = rows > 1 ? (row / (rows - 1)) * 100 : 0;
    style.backgroundPosition = `${(column / (COLUMNS - 1)) * 100}% ${down}%`;
  }
}

/** Returns whether an image could be loaded and decoded. */
async function loaded(url) {
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    return true;
  } catch {
    return false;
  }
}

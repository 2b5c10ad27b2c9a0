// SPDX-License-Identifier: Apache-2.0

import { renditionURL } from "./api.js";
import { folderHash, imageHash, join } from "./routing.js";
import { t } from "./strings.js";
import { counted, element, localTime, number } from "./text.js";

/** The side of the images that are compared, in pixels. */
const SIDE = 512;

/** Shows groups of images that look alike side by side. */
export class DuplicatesView {
  /** Called when more groups are wanted. */
  onMore = () => {};
  #section = document.querySelector("#duplicates");
  #groups;
  #more;
  // The elements of groups by their contents, so that those that are shown stay.
  #shown = new Map();

  constructor() {
    this.#groups = this.#section.querySelector("[data-part=groups]");
    this.#more = this.#section.querySelector("[data-part=more]");
    this.#more.addEventListener("click", () => this.onMore());
  }

  show({ groups, total }) {
    const shown = new Map(groups.map((group) => {
      const key = JSON.stringify(group);
      return [key, this.#shown.get(key) ?? groupElement(group)];
    }));
    const isSame = [...shown.keys()].join() === [...this.#shown.keys()].join();
    this.#shown = shown;
    if (!isSame) this.#groups.replaceChildren(...shown.values());
    this.#more.hidden = groups.length >= total;
    this.#section.hidden = groups.length === 0;
  }

  clear() {
    this.show({ groups: [], total: 0 });
  }
}

function groupElement({ pictures, bytes, equal }) {
  const group = element("article");
  const count = pictures.name.length;
  const areEqual = equal.every((first) => first === 0);
  const list = element("ul");
  list.role = "list";
  list.append(...pictures.name.map((name, i) => {
    const [folder, width, height] = [pictures.folder[i], pictures.width[i], pictures.height[i]];
    const item = element("li");
    const link = element("a");
    link.href = imageHash(folder, name);
    const image = new Image(width, height);
    image.loading = "lazy";
    image.alt = name;
    image.src = renditionURL(folder, name, pictures.version[i], SIDE);
    link.append(image);
    const place = element("a", "place", join(folder, name));
    place.href = folderHash(folder);
    place.title = t("showFolder");
    const facts = `${width} × ${height} · ${number(bytes[i])} ${t("bytes")} · ${localTime(pictures.taken[i])}`;
    item.append(link, place, element("p", "", facts));
    if (!areEqual && equal[i] < i) item.append(element("p", "", t("sameFile", { name: pictures.name[equal[i]] })));
    return item;
  }));
  group.append(element("h2", "", counted(areEqual ? "equalFiles" : "similarImages", count)), list);
  return group;
}

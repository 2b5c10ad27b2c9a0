// SPDX-License-Identifier: Apache-2.0

import { folderHash, join } from "./routing.js";
import { counted, element, folderName, number } from "./text.js";

/** Cards shown at once; a folder of thousands of folders shows the rest on demand. */
const FIRST_CARDS = 60;

/** Everything about a folder but its pictures: path, title, counts, the folders inside. */
export class FolderView {
  #path = document.querySelector("#path");
  #title = document.querySelector("#title");
  #summary = document.querySelector("#summary");
  #folders = document.querySelector("#folders");
  #cards = document.querySelector("#cards");
  #more = document.querySelector("#more-folders");
  #message = document.querySelector("#message");
  #template = document.querySelector("#folder-card");
  #shownFolders = "";
  #loadingTimer = 0;

  /** Names the folder that is being entered, before anything is known about it. */
  enter(folder) {
    clearTimeout(this.#loadingTimer);
    this.#showPath(folder);
    this.#title.textContent = folderName(folder);
    this.#summary.textContent = "";
    // Most folders are there before anyone could read that they are on their way.
    this.#loadingTimer = setTimeout(() => (this.#summary.textContent = "Loading…"), 400);
    this.#folders.hidden = true;
    this.#cards.replaceChildren();
    this.#shownFolders = "";
    this.#message.hidden = true;
  }

  show(listing) {
    clearTimeout(this.#loadingTimer);
    const counts = [];
    const { folders, total, folder } = listing;
    if (total > 0) counts.push(counted(total, "picture"));
    if (folders.name.length > 0) counts.push(counted(folders.name.length, "folder"));
    const summary = counts.join(" · ") || "No pictures";
    // An unchanged live region stays silent only when it is not written to.
    if (this.#summary.textContent !== summary) this.#summary.textContent = summary;
    this.#showFolders(folder, folders);
    if (counts.length > 0) this.#message.hidden = true;
    else this.#say("Nothing here yet", "Pictures put into this folder will appear by themselves.");
  }

  /** Says that the folder cannot be shown at all. */
  showFailure(error) {
    clearTimeout(this.#loadingTimer);
    const isMissing = error.status === 404;
    const title = isMissing ? "There is no such folder" : "This folder cannot be shown";
    const link = element("a", "", "Back to all pictures");
    link.href = folderHash("");
    const text = isMissing ? "It may have been moved or renamed. " : `${error.message}. `;
    this.#say(title, text, link);
    this.#summary.textContent = "";
  }

  #say(title, text, ...more) {
    const paragraph = element("p", "", text);
    paragraph.append(...more);
    this.#message.replaceChildren(element("h2", "", title), paragraph);
    this.#message.hidden = false;
  }

  #showPath(folder) {
    const segments = folder === "" ? [] : folder.split("/");
    const items = ["", ...segments].map((_, depth) => {
      const path = segments.slice(0, depth).join("/");
      const link = element("a", "", path === "" ? "Calotype" : folderName(path));
      link.href = folderHash(path);
      if (depth === segments.length) link.setAttribute("aria-current", "page");
      const item = element("li");
      item.append(link);
      return item;
    });
    this.#path.replaceChildren(...items);
    // On a narrow window the end of the path matters most.
    this.#path.scrollLeft = this.#path.scrollWidth;
  }

  #showFolders(folder, folders) {
    const shown = JSON.stringify([folder, folders]);
    if (shown === this.#shownFolders) return;
    this.#shownFolders = shown;
    const count = folders.name.length;
    const card = (index) => this.#card(folder, folders.name[index], folders.pictures[index]);
    const first = Math.min(count, FIRST_CARDS);
    this.#cards.replaceChildren(...Array.from({ length: first }, (_, index) => card(index)));
    this.#more.hidden = count <= first;
    this.#more.textContent = `Show all ${number(count)} folders`;
    this.#more.onclick = () => {
      this.#more.hidden = true;
      const rest = Array.from({ length: count - first }, (_, index) => card(first + index));
      this.#cards.append(...rest);
      rest[0].querySelector("a").focus();
    };
    this.#folders.hidden = count === 0;
  }

  #card(folder, name, pictures) {
    const item = this.#template.content.cloneNode(true).firstElementChild;
    const link = item.querySelector("a");
    link.href = folderHash(join(folder, name));
    link.title = name;
    item.querySelector("strong").textContent = name;
    item.querySelector("small").textContent = pictures > 0 ? counted(pictures, "picture") : "";
    return item;
  }
}

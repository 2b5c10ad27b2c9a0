// SPDX-License-Identifier: Apache-2.0

import { FolderCards } from "./folder-cards.js";
import { folderHash } from "./routing.js";
import { t } from "./strings.js";
import { counted, element, folderName } from "./text.js";

/** The path, title, counts and subfolders of a folder. */
export class FolderView {
  #path = document.querySelector("#path");
  #title = document.querySelector("#title");
  #summary = document.querySelector("#summary");
  #cards = new FolderCards(
    document.querySelector("#folders"), document.querySelector("#folder-card"));
  #message = document.querySelector("#message");
  #loadingTimer = 0;

  /** Shows the covers of folders from now on. */
  showCovers(generation) {
    this.#cards.showCovers(generation);
  }

  /** Shows the name of a folder before its listing has arrived. */
  enter(folder) {
    clearTimeout(this.#loadingTimer);
    this.#showPath(folder);
    this.#title.textContent = folderName(folder);
    this.#summary.textContent = "";
    // Most listings arrive before a message could be read.
    this.#loadingTimer = setTimeout(() => (this.#summary.textContent = t("loading")), 400);
    this.#cards.clear();
    this.#message.hidden = true;
  }

  /** Shows the title of the timeline before it has arrived. */
  enterTimeline(title) {
    this.enter("");
    this.#path.replaceChildren();
    this.#title.textContent = title;
  }

  showTitle(title) {
    if (this.#title.textContent !== title) this.#title.textContent = title;
  }

  /** Shows the number of images. */
  showSummary(summary) {
    clearTimeout(this.#loadingTimer);
    // Writing to a live region announces it even if the text is unchanged.
    if (this.#summary.textContent !== summary) this.#summary.textContent = summary;
  }

  show(listing) {
    const counts = [];
    const { folders, total } = listing;
    if (total > 0) counts.push(counted("images", total));
    if (folders.name.length > 0) counts.push(counted("folderCount", folders.name.length));
    this.showSummary(counts.join(" · ") || t("noImages"));
    this.#cards.show(listing);
    if (counts.length > 0) this.hideMessage();
    else this.showMessage(t("emptyFolder"), t("emptyFolderHint"));
  }

  /** Shows that the folder cannot be displayed. */
  showFailure(error) {
    clearTimeout(this.#loadingTimer);
    const isMissing = error.status === 404;
    const title = t(isMissing ? "folderMissing" : "folderFails");
    const link = element("a", "", t("backToAll"));
    link.href = folderHash("");
    const text = isMissing ? t("folderMissingHint") : `${error.message}. `;
    this.showMessage(title, text, link);
    this.#summary.textContent = "";
  }

  hideMessage() {
    this.#message.hidden = true;
  }

  /** Shows a message instead of images. */
  showMessage(title, text, ...more) {
    clearTimeout(this.#loadingTimer);
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
    // In a narrow window the end of the path is the most relevant part.
    if (folder !== "") this.#path.scrollLeft = this.#path.scrollWidth;
  }
}

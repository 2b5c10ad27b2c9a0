// SPDX-License-Identifier: Apache-2.0

import { timelineHash } from "./routing.js";
import { t } from "./strings.js";
import { counted, element, number } from "./text.js";

/** Remembers whether the user is a guest, who sees those images only that a link names. */
export function markShared({ isSelection }) {
  document.documentElement.classList.toggle("is-shared", isSelection === true);
}

/** Whether the user is such a guest. */
export function isShared() {
  return document.documentElement.classList.contains("is-shared");
}

/** The title of the timeline. */
export function allTitle() {
  return t(isShared() ? "sharedImages" : "allPhotos");
}

/** The title, count and progress of the timeline or of a search. */
export class TimelineView {
  #page;
  #progress;
  #query = "";

  /**
   * @param {FolderView} page shows the title and messages
   * @param {HTMLElement} progress a status
   */
  constructor(page, progress) {
    this.#page = page;
    this.#progress = progress;
  }

  /** Shows the title before the timeline has arrived. */
  enter(query) {
    this.#query = query;
    this.#page.enterTimeline(query === "" ? allTitle() : query);
  }

  /** @param {boolean} isReading whether more images may be found */
  show(timeline, isReading) {
    if (this.#query === "") this.#page.showTitle(allTitle());
    const images = counted("images", timeline.total);
    const found = t(timeline.isCut ? "foundCut" : "found", { images, query: this.#query });
    this.#page.showSummary(this.#query === "" ? images : found);
    if (timeline.total > 0 || (this.#query === "" && isReading)) {
      this.#page.hideMessage();
    } else if (this.#query === "") {
      this.#page.showMessage(t("emptyLibrary"), "");
    } else {
      const link = element("a", "", t("backToAll"));
      link.href = timelineHash("");
      this.#page.showMessage(
        t("nothingFound", { query: this.#query }), t("nothingFoundHint"), link);
    }
  }

  showFailure(error) {
    this.#page.showMessage(t("timelineFails"), `${error.message}.`);
  }

  /** Shows how much of the library has been read; nothing when all has. */
  showProgress(status) {
    if (status !== null) markShared(status);
    const isReading = status?.state === "reading";
    this.#progress.hidden = !isReading;
    if (!isReading) return;
    const { found, read, secondsLeft: left } = status;
    const time = left === null ? null
      : left < 100 ? t("seconds", { number: number(Math.ceil(left)) })
        : t("minutes", { number: number(Math.round(left / 60)) });
    this.#progress.textContent = t(time === null ? "progress" : "progressLeft", {
      read: number(read), found: number(found), time,
    });
  }
}

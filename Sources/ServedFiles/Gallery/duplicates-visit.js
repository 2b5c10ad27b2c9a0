// SPDX-License-Identifier: Apache-2.0

import { fetchDuplicates } from "./library.js";
import { DUPLICATES } from "./routing.js";
import { t } from "./strings.js";
import { counted } from "./text.js";

/** The number of groups that are added at a time. */
const PAGE = 20;

/** Shows the groups of images that look alike, and fetches their changes. */
export class DuplicatesVisit {
  view = DUPLICATES;
  /** There are no images in the grid. */
  listing = null;
  replacesLater = false;
  #parts;
  #controller = new AbortController();
  #limit = PAGE;
  #isReading = true;
  #isChecking = false;

  /** @param {object} parts as for `TimelineVisit`, and the `duplicatesView` */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Milliseconds between checks. */
  get pollInterval() {
    return this.#isReading ? 1500 : 10_000;
  }

  get title() {
    return t("duplicates");
  }

  async start() {
    const { folderView, duplicatesView, show } = this.#parts;
    folderView.enterTimeline(this.title);
    duplicatesView.onMore = () => {
      this.#limit += PAGE;
      this.check();
    };
    show(this);
    await this.check();
  }

  end() {
    this.#controller.abort(new DOMException("another view", "AbortError"));
    this.#parts.duplicatesView.clear();
    this.#parts.timelineView.showProgress(null);
  }

  reorder() {}

  async locate() {
    return null;
  }

  /** Fetches the groups; redraws those that have changed. */
  async check() {
    if (this.#isChecking) return;
    const { connection, folderView, duplicatesView, timelineView } = this.#parts;
    const { signal } = this.#controller;
    this.#isChecking = true;
    try {
      const answer = await connection.persist(() => this.#fetch(signal), signal);
      this.#isReading = answer.state === "reading";
      timelineView.showProgress({ ...answer, secondsLeft: null });
      folderView.showSummary(counted("groups", answer.total));
      duplicatesView.show(answer);
      if (answer.total > 0) folderView.hideMessage();
      else if (!this.#isReading) folderView.showMessage(t("noDuplicates"), t("noDuplicatesHint"));
    } catch (error) {
      if (signal.aborted) return;
      folderView.showMessage(t("duplicatesFail"), `${error.message}.`);
    }
    this.#isChecking = false;
  }

  /** Fetches as many groups as are shown, in pages. */
  async #fetch(signal) {
    let answer = await fetchDuplicates(0, PAGE, signal);
    while (answer.groups.length < Math.min(this.#limit, answer.total)) {
      const next = await fetchDuplicates(answer.groups.length, PAGE, signal);
      if (next.groups.length === 0) break;
      answer = { ...next, groups: [...answer.groups, ...next.groups] };
    }
    return answer;
  }
}

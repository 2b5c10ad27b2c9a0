// SPDX-License-Identifier: Apache-2.0

import { requestLink } from "./library.js";
import { copyText } from "./share.js";
import { t } from "./strings.js";
import { counted, folderName, number } from "./text.js";

/** The times for which a link may be valid, in days; the second is the default. */
const DAYS = [1, 7, 30, 365];

/** Makes links with which guests see a folder or a selection, and nothing else. */
export class ShareDialog {
  #dialog;
  #parts;
  #goal = null;

  /** @param {HTMLDialogElement} dialog */
  constructor(dialog) {
    this.#dialog = dialog;
    const names = ["title", "days", "make", "result", "url", "copy", "note", "close"];
    this.#parts = Object.fromEntries(
      names.map((name) => [name, dialog.querySelector(`[data-part="${name}"]`)]));
    const { days, make, url, copy, note, close } = this.#parts;
    days.append(...DAYS.map((count) =>
      new Option(t("dayCount", { count, number: number(count) }), count)));
    days.value = DAYS[1];
    make.addEventListener("click", () => this.#make());
    copy.addEventListener("click", () => copyText(url.value, copy, note));
    close.addEventListener("click", () => dialog.close());
    url.addEventListener("focus", () => url.select());
    days.addEventListener("change", () => this.#reset());
  }

  /** Offers a link to selected images. */
  offerImages(paths) {
    this.#offer({ images: paths }, counted("images", paths.length));
  }

  /** Offers a link to a folder. */
  offerFolder(folder) {
    this.#offer({ folder }, folderName(folder));
  }

  #offer(goal, name) {
    this.#goal = goal;
    this.#parts.title.textContent = t("shareTitle", { name });
    this.#reset();
    this.#dialog.showModal();
  }

  /** Removes the link that was made. */
  #reset() {
    const { result, make, url, note } = this.#parts;
    result.hidden = true;
    make.hidden = false;
    make.disabled = false;
    url.value = "";
    note.textContent = "";
  }

  async #make() {
    const { days, make, result, url, note } = this.#parts;
    const goal = this.#goal;
    make.disabled = true;
    try {
      const path = await requestLink({ ...goal, days: Number(days.value) });
      if (goal !== this.#goal || !make.disabled) return;
      url.value = new URL(path, location.href).href;
      result.hidden = false;
      make.hidden = true;
      url.focus();
    } catch (error) {
      note.textContent = t("linkFails", { reason: error.message });
      make.disabled = false;
    }
  }
}

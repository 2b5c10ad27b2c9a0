// SPDX-License-Identifier: Apache-2.0

import { fetchLinks, withdrawLink } from "./library.js";
import { copyText } from "./share.js";
import { t } from "./strings.js";
import { counted, date, element } from "./text.js";

/** Shows the links that guests have, and withdraws them. */
export class LinksDialog {
  #dialog;
  #list;
  #note;
  #close;

  /** @param {HTMLDialogElement} dialog */
  constructor(dialog) {
    this.#dialog = dialog;
    [this.#list, this.#note, this.#close] = ["list", "note", "close"].map(
      (name) => dialog.querySelector(`[data-part="${name}"]`));
    this.#close.addEventListener("click", () => dialog.close());
  }

  /** Shows the links as they are now. */
  async open() {
    this.#list.replaceChildren();
    this.#note.textContent = "";
    this.#dialog.showModal();
    try {
      const links = await fetchLinks();
      this.#list.replaceChildren(...links.map((link) => this.#row(link)));
      this.#showEmpty();
    } catch (error) {
      this.#note.textContent = t("linksFail", { reason: error.message });
    }
  }

  #showEmpty() {
    if (this.#list.childElementCount === 0) this.#note.textContent = t("noLinks");
  }

  #row(link) {
    const name = link.folder ?? counted("images", link.imageCount);
    const row = element("li");
    const about = element("p");
    about.append(element("strong", "", name), element("small", "", t("linkEnd", { date: date(link.expires) })));
    const copy = button("copyLink", "copyLinkTo", name);
    const url = new URL(link.url, location.href).href;
    copy.addEventListener("click", () => copyText(url, copy, this.#note));
    row.append(about, copy, this.#withdrawButton(link, name, row));
    return row;
  }

  /** The first click asks, since a link that was withdrawn cannot be restored; the second withdraws. */
  #withdrawButton(link, name, row) {
    const withdraw = button("withdraw", "withdrawLink", name);
    const ask = (isAsked) => {
      withdraw.classList.toggle("asked", isAsked);
      withdraw.textContent = t(isAsked ? "withdrawNow" : "withdraw");
      withdraw.ariaLabel = t(isAsked ? "withdrawLinkNow" : "withdrawLink", { name });
    };
    withdraw.addEventListener("blur", () => ask(false));
    withdraw.addEventListener("click", async () => {
      if (!withdraw.classList.contains("asked")) return ask(true);
      withdraw.disabled = true;
      try {
        await withdrawLink(link.id);
        // The focus stays near the row that is removed.
        const next = row.nextElementSibling ?? row.previousElementSibling;
        (next?.querySelector("button:last-child") ?? this.#close).focus();
        row.remove();
        this.#note.textContent = t("withdrawn", { name });
        this.#showEmpty();
      } catch (error) {
        this.#note.textContent = t("withdrawFails", { reason: error.message });
        ask(false);
        withdraw.disabled = false;
      }
    });
    return withdraw;
  }
}

/** Returns a button with a short text, and a name that says to which link it belongs. */
function button(text, label, name) {
  const made = element("button", "tool", t(text));
  made.type = "button";
  made.ariaLabel = t(label, { name });
  return made;
}

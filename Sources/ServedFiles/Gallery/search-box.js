// SPDX-License-Identifier: Apache-2.0

import { fetchCompletions } from "./library.js";
import { t } from "./strings.js";
import { counted, element, number } from "./text.js";

const KINDS = {
  folder: "kindFolder", camera: "kindCamera", lens: "kindLens", keyword: "kindKeyword",
  format: "kindFormat", year: "kindYear", place: "kindPlace",
};

/** The words of the query before the last one, and the last one; quotes contain spaces. */
const LAST_WORD = /^(.*?)((?:[^\s"]|"[^"]*(?:"|$))*)$/s;

/** A text field with completions: a combobox with a list (ARIA Authoring Practices). */
export class SearchBox {
  /** Called with the query after each change. */
  onSearch = () => {};
  #form;
  #input;
  #clear;
  #list;
  #status;
  #completions = [];
  #active = -1;
  #request = new AbortController();

  /** @param {HTMLFormElement} form with a text field, a button, a list and a status */
  constructor(form) {
    this.#form = form;
    this.#input = form.querySelector("input");
    this.#clear = form.querySelector("button");
    this.#list = form.querySelector("ul");
    this.#status = form.querySelector("[role=status]");
    this.#input.addEventListener("input", () => this.#changed());
    this.#input.addEventListener("focus", () => this.#complete());
    this.#input.addEventListener("blur", () => this.#close());
    this.#input.addEventListener("keydown", (event) => this.#pressed(event));
    this.#clear.addEventListener("click", () => {
      this.#set("");
      this.#input.focus();
    });
    // A pointer on the list must not move the focus, which would close the list.
    this.#list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => {
      const index = [...this.#list.children].indexOf(event.target.closest("li"));
      if (index >= 0) this.#accept(index);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, select, dialog") !== null;
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
      if (!this.#form.checkVisibility()) return;
      event.preventDefault();
      this.#input.focus();
    });
  }

  /** Shows the query of the URL. */
  show(query) {
    if (this.#query !== query) this.#input.value = query;
    this.#clear.hidden = this.#input.value === "";
  }

  get #query() {
    return this.#input.value.trim();
  }

  #changed() {
    this.#clear.hidden = this.#input.value === "";
    this.onSearch(this.#query);
    this.#complete();
  }

  #set(text) {
    this.#input.value = text;
    this.#changed();
  }

  /** Fetches completions of the last word; the answer for an earlier text is dropped. */
  async #complete() {
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const word = LAST_WORD.exec(this.#input.value)[2];
    if (word === "") return this.#close();
    try {
      const completions = await fetchCompletions(word, signal);
      if (!signal.aborted) this.#open(completions.filter(({ text }) => text !== word));
    } catch {
      // A search works without completions.
      if (!signal.aborted) this.#close();
    }
  }

  #open(completions) {
    this.#completions = completions;
    this.#active = -1;
    this.#input.removeAttribute("aria-activedescendant");
    this.#list.replaceChildren(...completions.map(({ label, kind, count }, i) => {
      const item = element("li");
      item.id = `completion-${i}`;
      item.role = "option";
      item.ariaSelected = false;
      item.append(element("strong", "", label), element("span", "", t(KINDS[kind] ?? "search")));
      if (count > 0) item.append(element("small", "", number(count)));
      return item;
    }));
    const isOpen = completions.length > 0 && document.activeElement === this.#input;
    this.#list.hidden = !isOpen;
    this.#input.ariaExpanded = isOpen;
    if (isOpen) this.#status.textContent = counted("completionCount", completions.length);
  }

  #close() {
    this.#request.abort();
    this.#open([]);
  }

  #pressed(event) {
    const { key } = event;
    const count = this.#completions.length;
    if (key === "Escape") {
      if (!this.#list.hidden) this.#close();
      else if (this.#input.value !== "") this.#set("");
      else this.#input.blur();
    } else if ((key === "ArrowDown" || key === "ArrowUp") && count > 0) {
      // From the text field, which is -1, to the first or last one, and around.
      const step = key === "ArrowDown" ? 1 : -1;
      this.#activate(((this.#active + 1 + step + count + 1) % (count + 1)) - 1);
    } else if (key === "Enter" && this.#active >= 0) {
      this.#accept(this.#active);
    } else if (key === "Enter") {
      this.#close();
    } else {
      return;
    }
    event.preventDefault();
  }

  #activate(index) {
    this.#active = index;
    [...this.#list.children].forEach((item, i) => (item.ariaSelected = i === index));
    if (index < 0) {
      this.#input.removeAttribute("aria-activedescendant");
    } else {
      this.#input.setAttribute("aria-activedescendant", `completion-${index}`);
      this.#list.children[index].scrollIntoView({ block: "nearest" });
    }
  }

  #accept(index) {
    const [, before] = LAST_WORD.exec(this.#input.value);
    const { text } = this.#completions[index];
    this.#set(`${before}${text} `);
    this.#close();
  }
}

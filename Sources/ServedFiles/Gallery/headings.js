// SPDX-License-Identifier: Apache-2.0

import { element } from "./text.js";

/** The headings of the sections near the window. */
export class Headings {
  #container;
  #shown = new Map();
  /** Adds and updates controls of a heading: called with the element and the section. */
  decorate = () => {};

  /** @param {HTMLElement} container is moved together with the tiles */
  constructor(container) {
    this.#container = container;
  }

  /** Shows the headings of the sections `first ... last` of a layout, relative to the offset `base`. */
  show(listing, layout, first, last, base) {
    for (const [section, heading] of this.#shown) {
      if (section >= first && section <= last) continue;
      heading.remove();
      this.#shown.delete(section);
    }
    for (let section = first; section <= last; section += 1) {
      let heading = this.#shown.get(section);
      const text = listing.heading(section);
      if (heading === undefined) {
        heading = element("div", "day");
        heading.append(element("h2"));
        this.#shown.set(section, heading);
        this.#container.append(heading);
      }
      const title = heading.firstElementChild;
      if (title.textContent !== text) title.textContent = text;
      const top = layout.y[listing.sections.starts[section]] - layout.heading - base;
      heading.style.top = `${top}px`;
      this.decorate(heading, section);
    }
  }

  /** Updates the controls of all headings. */
  redecorate() {
    for (const [section, heading] of this.#shown) this.decorate(heading, section);
  }

  clear() {
    this.#container.replaceChildren();
    this.#shown.clear();
  }
}

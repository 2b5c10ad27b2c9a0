// SPDX-License-Identifier: Apache-2.0

import { element, placeAfter } from "./text.js";

/** The headings of the sections near the window. */
export class Headings {
  #container;
  #shown = new Map();
  #listing = null;
  /** Adds and updates controls of a heading: called with the element and the section. */
  decorate = () => {};

  /** @param {HTMLElement} container is moved together with the tiles */
  constructor(container) {
    this.#container = container;
  }

  /** Shows the headings of the sections `first ... last` of a layout, relative to the offset `base`. */
  show(listing, layout, first, last, base) {
    const isSame = listing === this.#listing;
    this.#listing = listing;
    const unused = [];
    for (const [section, heading] of [...this.#shown].sort(([one], [other]) => one - other)) {
      if (section >= first && section <= last) continue;
      this.#shown.delete(section);
      unused.push(heading);
    }
    let previous = null;
    for (let section = first; section <= last; section += 1) {
      const known = this.#shown.get(section);
      const heading = known ?? unused.shift() ?? make();
      placeAfter(previous, heading, this.#container, unused);
      previous = heading;
      this.#shown.set(section, heading);
      const top = layout.y[listing.sections.starts[section]] - layout.heading - base;
      heading.style.top = `${top}px`;
      if (known !== undefined && isSame) continue;
      heading.firstElementChild.textContent = listing.heading(section);
      this.decorate(heading, section);
    }
    for (const heading of unused) heading.remove();
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

function make() {
  const heading = element("div", "day");
  heading.append(element("h2"));
  return heading;
}

// SPDX-License-Identifier: Apache-2.0

import { MOST_STARS } from "./marks.js";
import { t } from "./strings.js";
import { element } from "./text.js";

const STAR = "M12 3.500l2.600 5.500 5.900.8-4.300 4.200 1 6-5.200-2.900-5.200 2.900 1-6L3.500 9.800l5.900-.8z";
const SVG = "http://www.w3.org/2000/svg";

/** Buttons for one to five stars. */
export class RatingControl {
  /** Called with the number of stars. */
  onRate = () => {};
  #buttons;

  /** @param {HTMLElement} group contains the buttons */
  constructor(group) {
    this.#buttons = Array.from({ length: MOST_STARS }, (_, i) => {
      const button = element("button");
      button.type = "button";
      button.ariaLabel = t("stars", { count: i + 1, number: i + 1 });
      button.title = t("starsKey", { number: i + 1 });
      button.append(star());
      button.addEventListener("click", () => this.onRate(i + 1));
      return button;
    });
    group.append(...this.#buttons);
    this.show(0);
  }

  /** Shows a number of stars; null for several. */
  show(stars) {
    this.#buttons.forEach((button, i) => {
      button.ariaPressed = stars === i + 1;
      button.classList.toggle("full", i < (stars ?? 0));
    });
  }
}

function star() {
  const [svg, path] = ["svg", "path"].map((name) => document.createElementNS(SVG, name));
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.ariaHidden = true;
  path.setAttribute("d", STAR);
  svg.append(path);
  return svg;
}

/** Returns the stars of a key from 0 to 5; null for other keys. */
export function starsOf(key) {
  return /^[0-5]$/.test(key) ? Number(key) : null;
}

// SPDX-License-Identifier: Apache-2.0

import { remember, remembered } from "./remembered.js";

const WANTED = { small: 124, medium: 204, large: 340 };

/** Visible tiles that leave room, within the limit of tiles, for what is next. */
const MOST_VISIBLE = 60;

/**
 * The row height to aim at, in CSS pixels.
 *
 * Narrow windows get lower rows, so that a phone shows two or three pictures side by side; very
 * large ones higher rows, so that the count of tiles on screen stays bounded.
 */
export function rowHeightFor(density, viewWidth, viewHeight, meanAspect) {
  const scale = Math.min(1, Math.max(0.58, viewWidth / 1100));
  const lowest = Math.sqrt((viewWidth * viewHeight) / (MOST_VISIBLE * meanAspect));
  return Math.round(Math.max(WANTED[density] * scale, lowest));
}

/** The gap between pictures, in CSS pixels. */
export function gapFor(viewWidth) {
  return viewWidth < 600 ? 3 : 6;
}

/** The row heights' radio buttons; the choice outlives the page. */
export class DensityControl {
  constructor(fieldset, onChange) {
    this.value = remembered("density", Object.keys(WANTED)) ?? "medium";
    for (const input of fieldset.querySelectorAll("input")) {
      input.checked = input.value === this.value;
      input.addEventListener("change", () => {
        this.value = input.value;
        remember("density", this.value);
        onChange();
      });
    }
  }
}

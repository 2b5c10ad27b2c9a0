// SPDX-License-Identifier: Apache-2.0

import { remember, remembered } from "./remembered.js";

const WANTED = { small: 124, medium: 204, large: 340 };

/** The maximum number of visible tiles, which leaves tiles for the next rows. */
const MOST_VISIBLE = 60;

/**
 * Returns the target row height, in CSS pixels.
 *
 * Narrow windows have lower rows, so that a phone shows two or three images side by side. Very
 * large windows have higher rows, which bounds the number of visible tiles.
 */
export function rowHeightFor(density, viewWidth, viewHeight, meanAspect) {
  const scale = Math.min(1, Math.max(0.58, viewWidth / 1100));
  const lowest = Math.sqrt((viewWidth * viewHeight) / (MOST_VISIBLE * meanAspect));
  return Math.round(Math.max(WANTED[density] * scale, lowest));
}

/** The gap between images, in CSS pixels. */
export function gapFor(viewWidth) {
  return viewWidth < 600 ? 3 : 6;
}

/** The radio buttons of the row height; the choice is stored. */
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

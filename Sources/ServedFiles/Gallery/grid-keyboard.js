// SPDX-License-Identifier: Apache-2.0

import { nearestInRow, rowAt } from "./layout.js";

/** Maps keys to images. */
export class GridKeyboard {
  // Up and Down keep the horizontal position at which they started.
  #column = null;

  /** Resets the horizontal position after the focus has moved by other means. */
  reset() {
    this.#column = null;
  }

  /** Returns the image that `key` moves to from image `index`; null for other keys. */
  target(key, index, layout, viewHeight) {
    const last = layout.w.length - 1;
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
    if (step !== undefined) {
      this.#column = null;
      return Math.max(0, Math.min(last, index + step));
    }
    this.#column ??= layout.x[index] + layout.w[index] / 2;
    const row = rowAfter(key, layout.row[index], layout, viewHeight);
    return row === null ? null : nearestInRow(layout, row, this.#column);
  }
}

function rowAfter(key, row, layout, viewHeight) {
  const lastRow = layout.rowCount - 1;
  const top = layout.y[layout.rowStart[row]];
  switch (key) {
    case "ArrowUp":
      return Math.max(0, row - 1);
    case "ArrowDown":
      return Math.min(lastRow, row + 1);
    case "PageUp":
      return Math.min(Math.max(0, row - 1), rowAt(layout, top - viewHeight));
    case "PageDown":
      return Math.max(Math.min(lastRow, row + 1), rowAt(layout, top + viewHeight));
    default:
      return null;
  }
}

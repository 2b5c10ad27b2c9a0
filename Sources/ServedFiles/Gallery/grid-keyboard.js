// SPDX-License-Identifier: Apache-2.0

import { nearestInRow, rowAt } from "./layout.js";

/** Tells which picture a key moves to. */
export class GridKeyboard {
  // Up and Down keep to the column where they started, however the rows between are divided.
  #column = null;

  /** Forgets the column: the focus came from elsewhere. */
  reset() {
    this.#column = null;
  }

  /** The picture that `key` leads to from picture `index`; null when the key means nothing. */
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

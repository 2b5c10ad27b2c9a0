// SPDX-License-Identifier: Apache-2.0

import { lastIndex } from "./binary-search.js";

/** Images with a smaller aspect ratio are cropped. */
const NARROWEST = 0.4;

/** An image wider than a row of this share of the target height is cropped. */
const LOWEST_ROW = 0.6;

/**
 * Lays out images in justified rows.
 *
 * All results are whole CSS pixels, so that edges are sharp and the widths and gaps of a row
 * add up to exactly `width`. The last row of a section has the target height and is not stretched.
 *
 * @param {ArrayLike<number>} aspects width ÷ height of each image; 0 or NaN counts as square
 * @param {number} width the width to fill, in CSS pixels
 * @param {number} rowHeight the target height of a row, in CSS pixels
 * @param {number} gap between images and between rows, in CSS pixels
 * @param {{starts: ArrayLike<number>, heading: number} | null} sections the first image of each section,
 *   then the count of images, and the height of the heading above each; null for one without heading
 * @returns {Layout}
 *
 * Complexity: O(images).
 *
 * @typedef {object} Layout
 * @property {Int32Array} x left edges
 * @property {Int32Array} y top edges
 * @property {Int32Array} w widths
 * @property {Int32Array} h heights
 * @property {Int32Array} row the row of each image
 * @property {Int32Array} rowStart the first image of each row, then the count of images
 * @property {number} rowCount
 * @property {number} height of everything
 * @property {number} minAspect images narrower than this are cropped
 * @property {number} maxAspect images wider than this are cropped
 * @property {number} heading the height above the first row of each section
 */
export function justifiedRows(aspects, width, rowHeight, gap, sections = null) {
  const count = aspects.length;
  width = Math.max(1, Math.floor(width));
  const minAspect = NARROWEST;
  const maxAspect = Math.max(1.5, width / (rowHeight * LOWEST_ROW));
  const layout = {
    x: new Int32Array(count),
    y: new Int32Array(count),
    w: new Int32Array(count),
    h: new Int32Array(count),
    row: new Int32Array(count),
    rowStart: new Int32Array(count + 1),
    rowCount: 0,
    height: 0,
    minAspect,
    maxAspect,
    heading: sections?.heading ?? 0,
  };
  const shown = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    const aspect = aspects[i] > 0 ? aspects[i] : 1;
    shown[i] = Math.min(maxAspect, Math.max(minAspect, aspect));
  }
  const starts = sections?.starts ?? [0, count];
  let top = 0;
  for (let section = 0; section + 1 < starts.length; section += 1) {
    const [start, end] = [starts[section], starts[section + 1]];
    top = placeRows(layout, shown, start, end, width, rowHeight, gap, top + layout.heading);
  }
  layout.rowStart[layout.rowCount] = count;
  layout.height = Math.max(0, top - gap);
  return layout;
}

/** Places the images `first ..< end` in rows; returns the top of the row below. */
function placeRows(layout, shown, first, end, width, rowHeight, gap, top) {
  let start = first;
  let sum = 0;
  for (let i = first; i < end; i += 1) {
    const sumWith = sum + shown[i];
    const heightWith = (width - gap * (i - start)) / sumWith;
    if (heightWith > rowHeight) {
      sum = sumWith;
      continue;
    }
    // The row is full. It ends before or after this image, whichever is nearer to the target
    // height, measured as a ratio.
    const heightWithout = i > start ? (width - gap * (i - start - 1)) / sum : Infinity;
    if (heightWithout / rowHeight < rowHeight / heightWith) {
      top = placeRow(layout, shown, start, i, width, heightWithout, gap, top);
      start = i;
      sum = 0;
      i -= 1;
    } else {
      top = placeRow(layout, shown, start, i + 1, width, heightWith, gap, top);
      start = i + 1;
      sum = 0;
    }
  }
  if (start === end) return top;
  const natural = sum * rowHeight + gap * (end - start - 1);
  return placeRow(layout, shown, start, end, Math.min(width, natural), rowHeight, gap, top);
}

/** Places the images `start ..< end`; returns the top of the row below. */
function placeRow(layout, shown, start, end, width, height, gap, top) {
  const row = layout.rowCount;
  const wholeHeight = Math.max(1, Math.round(height));
  let exact = 0;
  let left = 0;
  for (let i = start; i < end; i += 1) {
    exact += shown[i] * height;
    // Edges are rounded, not widths, so that rounding errors do not add up.
    const gaps = gap * (i - start);
    const right = i === end - 1 ? Math.round(width) : Math.round(exact + gaps);
    layout.x[i] = left;
    layout.y[i] = top;
    layout.w[i] = Math.max(1, right - left);
    layout.h[i] = wholeHeight;
    layout.row[i] = row;
    left = right + gap;
  }
  layout.rowStart[row] = start;
  layout.rowCount = row + 1;
  return top + wholeHeight + gap;
}

/** Returns the row at or above the offset `y`; -1 without rows. */
export function rowAt(layout, y) {
  return lastIndex(layout.rowCount, (row) => layout.y[layout.rowStart[row]] <= y);
}

/** Returns the image of a row whose centre is nearest to `x`. */
export function nearestInRow(layout, row, x) {
  let best = layout.rowStart[row];
  let distance = Infinity;
  for (let i = best; i < layout.rowStart[row + 1]; i += 1) {
    const away = Math.abs(layout.x[i] + layout.w[i] / 2 - x);
    if (away < distance) {
      best = i;
      distance = away;
    }
  }
  return best;
}

/** Returns the image at a point, or the nearest one of its row; -1 without images. */
export function imageAt(layout, x, y) {
  const row = Math.max(0, rowAt(layout, y));
  return layout.rowCount === 0 ? -1 : nearestInRow(layout, row, x);
}

// SPDX-License-Identifier: Apache-2.0

import { parseThumbHash } from "./thumbhash.js";

/** Milliseconds per frame for drawing placeholders; the rest is drawn in the next frame. */
const FRAME_BUDGET = 3;

/** Frames that an element must be visible before its bitmap is drawn, in which a server nearby sends the image. */
const LEAST_AGE = 6;

/** The number of cached bitmaps, about 4 kB each. */
const MOST_KEPT = 1500;

/**
 * Sets the background of elements to a placeholder: the average colour at once, and the blurred
 * image when the element stays visible and a frame has time for it.
 */
export class PlaceholderPainter {
  #addresses = new Map();
  #waiting = new Map();
  #frameNumber = 0;
  #frame = 0;

  paint(element, hash) {
    this.#waiting.delete(element);
    const placeholder = parseThumbHash(hash);
    if (placeholder === null) return;
    const [red, green, blue, alpha] = placeholder.averageColor;
    element.style.backgroundColor = `rgb(${red} ${green} ${blue} / ${alpha / 255})`;
    this.#waiting.set(element, { hash, placeholder, since: this.#frameNumber });
    this.#frame ||= requestAnimationFrame(() => this.#drawWaiting());
  }

  /** Keeps the background as it is, for example because an image covers it. */
  keep(element) {
    this.#waiting.delete(element);
  }

  /** Removes the background, for example below a transparent image. */
  clear(element) {
    this.#waiting.delete(element);
    element.style.backgroundImage = "";
    element.style.backgroundColor = "";
  }

  #drawWaiting() {
    const end = performance.now() + FRAME_BUDGET;
    this.#frameNumber += 1;
    for (const [element, { hash, placeholder, since }] of this.#waiting) {
      // Entries are in insertion order: those that follow are not older.
      if (this.#frameNumber - since < LEAST_AGE || performance.now() >= end) break;
      this.#waiting.delete(element);
      element.style.backgroundImage = this.#address(hash, placeholder);
    }
    const isOver = this.#waiting.size === 0;
    this.#frame = isOver ? 0 : requestAnimationFrame(() => this.#drawWaiting());
  }

  #address(hash, placeholder) {
    let address = this.#addresses.get(hash);
    if (address !== undefined) return address;
    address = `url("${bitmapAddress(placeholder.image())}")`;
    this.#addresses.set(hash, address);
    if (this.#addresses.size > MOST_KEPT) {
      this.#addresses.delete(this.#addresses.keys().next().value);
    }
    return address;
  }
}

const HEADER_BYTES = 14 + 108;

/**
 * Returns a `data:` URL of a bitmap with alpha. BMP version 4 needs neither compression nor a
 * checksum.
 */
export function bitmapAddress({ width, height, data }) {
  const bytes = new Uint8Array(HEADER_BYTES + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, HEADER_BYTES, true);
  view.setUint32(14, 108, true);
  view.setInt32(18, width, true);
  // A negative height means rows from the top.
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 32, true);
  const bitFields = 3;
  view.setUint32(30, bitFields, true);
  view.setUint32(34, data.length, true);
  // The masks of red, green, blue and alpha, for pixels stored as R, G, B, A.
  [0xff, 0xff00, 0xff0000, 0xff000000].forEach((mask, i) => view.setUint32(54 + 4 * i, mask, true));
  view.setUint32(70, 0x73524742, true); // "sRGB"
  bytes.set(data, HEADER_BYTES);
  return `data:image/bmp;base64,${btoa(String.fromCharCode(...bytes))}`;
}

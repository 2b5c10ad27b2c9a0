// SPDX-License-Identifier: Apache-2.0

/** Browsers limit the height of an element; the lowest limit is 8.4 million px, at 4 device pixels per px. */
export const TALLEST_ELEMENT = 8_000_000;

/**
 * Maps scroll offsets of the page to offsets of the content.
 *
 * Content up to the limit is scrolled one to one. Taller content has an element of the maximum
 * height, whose scroll offset is proportional to that of the content. Before the start and after
 * the end of the content, both are one to one again.
 *
 * Steps shorter than a view move the content by the same distance; otherwise a wheel step would move
 * it by half a screen. `follow` and `pin` store the resulting deviation from the proportion.
 */
export class ScrollSpace {
  #viewHeight;
  #offset = 0;
  #content = 0;

  constructor(contentHeight, viewHeight, limit = TALLEST_ELEMENT) {
    this.#viewHeight = viewHeight;
    this.elementHeight = Math.min(contentHeight, limit);
    this.contentRange = Math.max(0, contentHeight - viewHeight);
    this.elementRange = Math.max(0, this.elementHeight - viewHeight);
    this.isProportional = contentHeight > limit && this.elementRange > 0;
  }

  /** Returns the offset of the content for an offset of the element. */
  toContent(offset) {
    if (!this.isProportional || offset <= 0) return offset;
    if (offset >= this.elementRange) return this.contentRange + offset - this.elementRange;
    return (offset / this.elementRange) * this.contentRange;
  }

  /** The inverse of `toContent`. */
  toElement(offset) {
    if (!this.isProportional || offset <= 0) return offset;
    if (offset >= this.contentRange) return this.elementRange + offset - this.contentRange;
    return (offset / this.contentRange) * this.elementRange;
  }
  /** Returns the offset of the content after the element was scrolled to `offset`. */
  follow(offset) {
    const step = offset - this.#offset;
    const isInside = this.isProportional && offset > 0 && offset < this.elementRange;
    const isStep = isInside && Math.abs(step) < this.#viewHeight;
    const content = isStep ? this.#content + step : this.toContent(offset);
    this.#content = isInside ? Math.max(0, Math.min(this.contentRange, content)) : content;
    this.#offset = offset;
    return this.#content;
  }

  /** Whether the element deviates from the proportion by a pixel or more. */
  get isOff() {
    return this.isProportional && Math.abs(this.toElement(this.#content) - this.#offset) >= 1;
  }

  /** Returns the offset of the element, in whole pixels, at which `follow` continues. */
  pin(content) {
    this.#content = content;
    this.#offset = Math.round(this.toElement(content));
    return this.#offset;
  }
}

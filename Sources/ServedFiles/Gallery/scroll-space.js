// SPDX-License-Identifier: Apache-2.0

/** Browsers cap an element's height; the lowest cap is 8.4 million px, at 4 device pixels a px. */
export const TALLEST_ELEMENT = 8_000_000;

/**
 * Maps how far the page is scrolled to what is looked at.
 *
 * Content up to the limit is scrolled one to one. Taller content gets an element of the limit's
 * height, whose scrolled distance stands for a proportional one. Before the content's start and
 * after its end, where other things are on screen, both run one to one again.
 *
 * Steps shorter than a view are taken as they are all the same, or a notch of the wheel would go by
 * half a screen: `follow` and `pin` remember by how much the content has come off the proportion.
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

  /** The content's offset at the top of the view when the element's is `offset`. */
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
  /** The content's offset now that the element has been scrolled to `offset`. */
  follow(offset) {
    const step = offset - this.#offset;
    const isInside = this.isProportional && offset > 0 && offset < this.elementRange;
    const isStep = isInside && Math.abs(step) < this.#viewHeight;
    const content = isStep ? this.#content + step : this.toContent(offset);
    this.#content = isInside ? Math.max(0, Math.min(this.contentRange, content)) : content;
    this.#offset = offset;
    return this.#content;
  }

  /** Whether the element is not where the proportion would have it, by a pixel or more. */
  get isOff() {
    return this.isProportional && Math.abs(this.toElement(this.#content) - this.#offset) >= 1;
  }

  /** The element's offset, in whole pixels, from which `follow` goes on at a content's offset. */
  pin(content) {
    this.#content = content;
    this.#offset = Math.round(this.toElement(content));
    return this.#offset;
  }
}

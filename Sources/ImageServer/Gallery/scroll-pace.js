// SPDX-License-Identifier: Apache-2.0

/** Faster than this nobody sees single pictures, so none are fetched. In screens a second. */
const FAST = 3;
const SETTLED_AFTER = 80;

/** A pause counts no longer than this, or a sudden jump after it would seem slow. */
const LONGEST_FRAME = 100;

/** Watches how fast and which way the content moves. */
export class ScrollPace {
  /** 1 downwards, -1 upwards. */
  direction = 1;
  #offset = 0;
  #time = 0;
  #timer = 0;
  #onChange;

  /** @param {(isFast: boolean) => void} onChange told when fast scrolling begins and has ended */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  moved(offset, viewHeight) {
    const now = performance.now();
    const distance = offset - this.#offset;
    const seconds = Math.min(LONGEST_FRAME, Math.max(1, now - this.#time)) / 1000;
    this.#offset = offset;
    this.#time = now;
    if (distance === 0) return;
    this.direction = Math.sign(distance);
    if (Math.abs(distance) / viewHeight / seconds < FAST) return;
    if (this.#timer === 0) this.#onChange(true);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#onChange(false);
    }, SETTLED_AFTER);
  }
}

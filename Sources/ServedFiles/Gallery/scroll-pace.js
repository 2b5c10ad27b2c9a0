// SPDX-License-Identifier: Apache-2.0

/** The scroll speed, which determines what is loaded. */
export const Pace = {
  /** Slow or at rest: images of the exact size. */
  RESTING: "resting",
  /** Too fast to see details: smaller renditions, which load sooner. */
  MOVING: "moving",
  /** Too fast to see images: placeholders only. */
  FLYING: "flying",
};

// In screens per second. A slow drag counts as rest, a wheel step does not.
const SLOWEST_MOVING = 0.4;
const SLOWEST_FLYING = 3;

/** The averaging period in milliseconds: the speed of a single frame depends on event timing. */
const WINDOW = 150;

/**
 * The milliseconds without movement after which the content is at rest; at least two frames.
 */
const SETTLED_AFTER = 80;

/** Measures the speed and direction of scrolling. */
export class ScrollPace {
  /** 1 downwards, -1 upwards. */
  direction = 1;
  current = Pace.RESTING;
  /** Whether the last movement was the first one after a rest. */
  isFirst = true;
  /** The distance of the last movement, in screens. */
  stride = 0;
  #moves = [];
  #offset = 0;
  #movedAt = -Infinity;
  #timer = 0;
  #onChange;

  /** @param {() => void} onChange called when `current` has changed */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** Sets a position that was not reached by scrolling. */
  pushed(offset) {
    this.#offset = offset;
  }

  /**
   * @param {number} offset the scroll position, in pixels
   * @param {number} now in milliseconds
   */
  moved(offset, viewHeight, now = performance.now()) {
    const distance = offset - this.#offset;
    this.#offset = offset;
    if (distance === 0) return;
    this.direction = Math.sign(distance);
    this.stride = Math.abs(distance) / viewHeight;
    const gap = now - this.#movedAt;
    this.isFirst = gap >= WINDOW;
    this.#movedAt = now;
    this.#moves.push({ time: now, screens: this.stride });
    while (this.#moves[0].time <= now - WINDOW) this.#moves.shift();
    const screens = this.#moves.reduce((sum, move) => sum + move.screens, 0);
    this.#set(paceAt((screens / WINDOW) * 1000));
    clearTimeout(this.#timer);
    const isOneMove = gap < WINDOW;
    this.#timer = setTimeout(
      () => {
        this.#moves = [];
        this.#set(Pace.RESTING);
      },
      isOneMove ? Math.max(SETTLED_AFTER, 2 * gap) : SETTLED_AFTER,
    );
  }

  #set(pace) {
    if (pace === this.current) return;
    this.current = pace;
    this.#onChange();
  }
}

function paceAt(screensPerSecond) {
  if (screensPerSecond >= SLOWEST_FLYING) return Pace.FLYING;
  return screensPerSecond >= SLOWEST_MOVING ? Pace.MOVING : Pace.RESTING;
}

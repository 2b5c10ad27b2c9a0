// SPDX-License-Identifier: Apache-2.0

/** How fast the content moves: what is worth loading depends on it. */
export const Pace = {
  /** Slowly or not at all: pictures are made for exactly the pixels that show them. */
  RESTING: "resting",
  /** Too fast to see details: a smaller rendition will do, and is there sooner. */
  MOVING: "moving",
  /** Too fast to see pictures: placeholders only. */
  FLYING: "flying",
};

// In screens a second. A reader's slow drag counts as rest, a turn of the wheel does not.
const SLOWEST_MOVING = 0.4;
const SLOWEST_FLYING = 3;

/** Speed is a mean over so many milliseconds: a single frame's depends on when events come. */
const WINDOW = 150;

/**
 * Without movement for so many milliseconds the content rests; where frames come more slowly than
 * that, for two of them.
 */
const SETTLED_AFTER = 80;

/** Watches how fast and which way the content moves. */
export class ScrollPace {
  /** 1 downwards, -1 upwards. */
  direction = 1;
  current = Pace.RESTING;
  #moves = [];
  #offset = 0;
  #movedAt = -Infinity;
  #timer = 0;
  #onChange;

  /** @param {() => void} onChange called when `current` has changed */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** Takes note of a place that was not scrolled to. */
  pushed(offset) {
    this.#offset = offset;
  }

  /**
   * @param {number} offset of what is looked at, in pixels
   * @param {number} now in milliseconds
   */
  moved(offset, viewHeight, now = performance.now()) {
    const distance = offset - this.#offset;
    this.#offset = offset;
    if (distance === 0) return;
    this.direction = Math.sign(distance);
    const gap = now - this.#movedAt;
    this.#movedAt = now;
    this.#moves.push({ time: now, screens: Math.abs(distance) / viewHeight });
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

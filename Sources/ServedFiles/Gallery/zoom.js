// SPDX-License-Identifier: Apache-2.0

/** Device pixels that one pixel of a picture may fill. */
const LARGEST_PIXEL = 4;

/** How far a double click goes into a picture that has hardly more pixels than the window. */
const LEAST_STEP = 2;

const DURATION = 180;

/** A released picture loses half of its speed in so many milliseconds. */
const HALF_LIFE = 90;
const SLOWEST_GLIDE = 0.05; // px per ms

/**
 * Where a picture lies under the window through which it is looked at.
 *
 * At scale 1 the picture fits the stage and lies in its middle; `x` and `y` are how far its middle
 * has been moved from there, in CSS pixels.
 */
export class Zoom {
  scale = 1;
  x = 0;
  y = 0;
  #stage;
  #size = { width: 1, height: 1 };
  #pixelWidth = 1;
  #animation = 0;
  #onChange;

  /** @param {() => void} onChange called when any of the three has changed */
  constructor(stage, onChange) {
    this.#stage = stage;
    this.#onChange = onChange;
  }

  get isZoomed() {
    return this.scale > 1.001;
  }

  /** How many times larger than it fits a picture has one pixel for each of the screen. */
  get actualScale() {
    return this.#pixelWidth / (this.#size.width * devicePixelRatio);
  }

  /** Takes the size at which the picture fits, and how many pixels it has across. */
  fit(size, pixelWidth) {
    this.#size = size;
    this.#pixelWidth = pixelWidth;
    this.#set(this.scale, this.x, this.y);
  }

  reset() {
    this.#stop();
    this.#set(1, 0, 0);
  }

  /** The picture's place in the stage. */
  get place() {
    const [width, height] = [this.#size.width * this.scale, this.#size.height * this.scale];
    const { clientWidth, clientHeight } = this.#stage;
    const left = (clientWidth - width) / 2 + this.x;
    return { left, top: (clientHeight - height) / 2 + this.y, width };
  }

  /** Zooms by a factor; what is at a point of the window stays there. */
  zoomAt(factor, clientX, clientY) {
    this.#stop();
    this.#set(...this.#zoomed(this.scale * factor, clientX, clientY));
  }

  /** Zooms by a factor towards the middle, in a short motion. */
  step(factor) {
    this.#animate(this.#zoomed(this.scale * factor));
  }

  /** Goes to one pixel for each of the screen, and from there back to the whole. */
  toggle(clientX, clientY) {
    const goal = this.isZoomed ? 1 : Math.max(LEAST_STEP, this.actualScale);
    this.#animate(this.#zoomed(goal, clientX, clientY));
  }

  pan(x, y) {
    this.#stop();
    this.#set(this.scale, this.x + x, this.y + y);
  }

  /** Goes on after a push, slower and slower; speeds in pixels per millisecond. */
  glide(speedX, speedY) {
    if (prefersStillness()) return;
    let last = performance.now();
    const move = (now) => {
      const time = Math.max(0, now - last);
      last = now;
      this.#set(this.scale, this.x + speedX * time, this.y + speedY * time);
      const left = 0.5 ** (time / HALF_LIFE);
      speedX *= left;
      speedY *= left;
      const isOver = Math.hypot(speedX, speedY) < SLOWEST_GLIDE;
      this.#animation = isOver ? 0 : requestAnimationFrame(move);
    };
    this.#stop();
    this.#animation = requestAnimationFrame(move);
  }

  #zoomed(scale, clientX, clientY) {
    const goal = Math.max(1, Math.min(this.#largest, scale));
    const { left, top, width, height } = this.#stage.getBoundingClientRect();
    const fromMiddleX = clientX === undefined ? 0 : clientX - left - width / 2;
    const fromMiddleY = clientY === undefined ? 0 : clientY - top - height / 2;
    const growth = goal / this.scale;
    return [
      goal,
      fromMiddleX - (fromMiddleX - this.x) * growth,
      fromMiddleY - (fromMiddleY - this.y) * growth,
    ];
  }

  get #largest() {
    return Math.max(LEAST_STEP, this.actualScale * LARGEST_PIXEL);
  }

  #set(scale, x, y) {
    // No further than the picture's edge to the window's; what is smaller stays in the middle.
    const { clientWidth, clientHeight } = this.#stage;
    const mostX = Math.max(0, (this.#size.width * scale - clientWidth) / 2);
    const mostY = Math.max(0, (this.#size.height * scale - clientHeight) / 2);
    this.scale = scale;
    this.x = Math.max(-mostX, Math.min(mostX, x));
    this.y = Math.max(-mostY, Math.min(mostY, y));
    this.#onChange();
  }

  #animate(goal) {
    this.#stop();
    if (prefersStillness()) {
      this.#set(...goal);
      return;
    }
    const from = [this.scale, this.x, this.y];
    const start = performance.now();
    const move = (now) => {
      const share = Math.min(1, Math.max(0, now - start) / DURATION);
      const eased = 1 - (1 - share) ** 3;
      this.#set(...from.map((value, i) => value + (goal[i] - value) * eased));
      this.#animation = share < 1 ? requestAnimationFrame(move) : 0;
    };
    this.#animation = requestAnimationFrame(move);
  }

  #stop() {
    cancelAnimationFrame(this.#animation);
    this.#animation = 0;
  }
}

/** Whether the reader has asked the system for little that moves. */
export function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

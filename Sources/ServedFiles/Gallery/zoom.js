// SPDX-License-Identifier: Apache-2.0

/** The maximum number of device pixels per image pixel. */
const LARGEST_PIXEL = 4;

/** The scale of a double click for an image with hardly more pixels than the window. */
const LEAST_STEP = 2;

const DURATION = 180;

/** The half-life of the speed of a released image, in milliseconds. */
const HALF_LIFE = 90;
const SLOWEST_GLIDE = 0.05; // px per ms

/**
 * The scale and offset of an image in the stage.
 *
 * At scale 1 the image fits the stage and is centred; `x` and `y` are the offset of its centre, in
 * CSS pixels.
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

  /** The scale at which one image pixel covers one device pixel. */
  get actualScale() {
    return this.#pixelWidth / (this.#size.width * devicePixelRatio);
  }

  /** Sets the fitted size, and the width of the image in pixels. */
  fit(size, pixelWidth) {
    this.#size = size;
    this.#pixelWidth = pixelWidth;
    this.#set(this.scale, this.x, this.y);
  }

  reset() {
    this.#stop();
    this.#set(1, 0, 0);
  }

  /** The position of the image in the stage. */
  get place() {
    const [width, height] = [this.#size.width * this.scale, this.#size.height * this.scale];
    const { clientWidth, clientHeight } = this.#stage;
    const left = (clientWidth - width) / 2 + this.x;
    return { left, top: (clientHeight - height) / 2 + this.y, width };
  }

  /** Zooms by a factor around a point of the window. */
  zoomAt(factor, clientX, clientY) {
    this.#stop();
    this.#set(...this.#zoomed(this.scale * factor, clientX, clientY));
  }

  /** Zooms by a factor around the centre, animated. */
  step(factor) {
    this.#animate(this.#zoomed(this.scale * factor));
  }

  /** Toggles between one image pixel per device pixel and the fitted size. */
  toggle(clientX, clientY) {
    const goal = this.isZoomed ? 1 : Math.max(LEAST_STEP, this.actualScale);
    this.#animate(this.#zoomed(goal, clientX, clientY));
  }

  pan(x, y) {
    this.#stop();
    this.#set(this.scale, this.x + x, this.y + y);
  }

  /** Continues a motion with decreasing speed; speeds in pixels per millisecond. */
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
    // Bounded by the edges of the window; a smaller image stays centred.
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

/** Whether the user prefers reduced motion. */
export function prefersStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// SPDX-License-Identifier: Apache-2.0

import { fetchPyramid } from "./api.js";
import { TileLayer } from "./tile-layer.js";
import { followZoomGestures } from "./zoom-gestures.js";
import { Zoom } from "./zoom.js";

const STEP = 1.5;

/** The step of the arrow keys, in CSS pixels. */
const PAN = 120;
const PANS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Milliseconds without zooming after which a larger rendition is requested. */
const SETTLED_AFTER = 150;

/** Zooms into an image and keeps it sharp with tiles, or with larger renditions. */
export class Magnifier {
  /** The required pixels of the rendition relative to the fitted size; 1 if tiles provide them. */
  detail = 1;
  #stage;
  #frame;
  #canvas;
  #zoom;
  #layer;
  #image = null;
  // undefined before it is requested; null if the server provides none
  #pyramid = null;
  #available = 0;
  #visit = new AbortController();
  #timer = 0;
  #onDetail;

  /**
   * @param {{stage: HTMLElement, frame: HTMLElement, tiles: HTMLCanvasElement}} parts the frame
   *   holds the fitted image in the middle of the stage, which the canvas covers
   * @param {() => void} onDetail called when `detail` has grown
   */
  constructor({ stage, frame, tiles }, loader, onDetail) {
    this.#stage = stage;
    this.#frame = frame;
    this.#canvas = tiles;
    this.#layer = new TileLayer(tiles, loader);
    this.#zoom = new Zoom(stage, () => this.#draw());
    this.#onDetail = onDetail;
    followZoomGestures(stage, this.#zoom);
  }

  get isZoomed() {
    return this.#zoom.isZoomed;
  }

  /** A description for the developer panel. */
  get statistics() {
    const scale = `${Math.round(this.#zoom.scale * 100)} % of fitted`;
    return this.#canvas.hidden ? scale : `${scale}, tiles of level ${this.#canvas.dataset.level}`;
  }

  /**
   * Shows another image, fitted.
   *
   * @param {{folder: string, name: string, version: string, width: number} | null} image null for
   *   an image that cannot be shown
   */
  enter(image) {
    this.#visit.abort(new DOMException("another image", "AbortError"));
    this.#visit = new AbortController();
    clearTimeout(this.#timer);
    this.#image = image;
    this.#pyramid = undefined;
    this.#available = 0;
    this.#layer.pyramid = null;
    this.detail = 1;
    this.#zoom.reset();
  }

  /** Sets the fitted size, in CSS pixels. */
  fit(size) {
    this.#zoom.fit(size, this.#image.width);
  }

  /** Sets the width, in pixels, of the rendition in the frame. */
  set available(width) {
    this.#available = width;
    this.#draw();
  }

  toggle() {
    this.#zoom.toggle();
  }

  /** Handles a key; returns whether it has a meaning here. */
  pressed(key) {
    const zoom = this.#zoom;
    if (key === "+" || key === "=") zoom.step(STEP);
    else if (key === "-") zoom.step(1 / STEP);
    // Otherwise it removes a rating.
    else if (key === "0" && zoom.isZoomed) zoom.reset();
    else if (key === "z") zoom.toggle();
    else if (key in PANS && zoom.isZoomed) zoom.pan(...PANS[key].map((part) => part * PAN));
    else return false;
    return true;
  }

  #draw() {
    const { scale, x, y, isZoomed } = this.#zoom;
    this.#frame.style.transform = isZoomed ? `translate(${x}px, ${y}px) scale(${scale})` : "";
    this.#stage.classList.toggle("zoomed", isZoomed);
    const isShort = isZoomed && this.#lacksPixels();
    if (isShort && this.#pyramid === undefined) this.#open();
    if (isShort && this.#pyramid === null && scale > this.detail) this.#requestDetail();
    this.#layer.show(isShort ? this.#zoom.place : null);
  }

  #lacksPixels() {
    if (this.#image === null || this.#available >= this.#image.width) return false;
    return this.#available < this.#zoom.place.width * devicePixelRatio * 0.99;
  }

  async #open() {
    const { folder, name, version } = this.#image;
    const { signal } = this.#visit;
    this.#pyramid = "requested";
    const pyramid = await fetchPyramid(folder, name, version, signal);
    if (signal.aborted) return;
    this.#pyramid = pyramid;
    this.#layer.pyramid = pyramid;
    this.#draw();
  }

  #requestDetail() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.detail = Math.max(this.detail, this.#zoom.scale);
      this.#onDetail();
    }, SETTLED_AFTER);
  }
}

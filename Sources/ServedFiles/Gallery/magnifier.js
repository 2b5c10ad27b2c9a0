// SPDX-License-Identifier: Apache-2.0

import { fetchPyramid } from "./api.js";
import { TileLayer } from "./tile-layer.js";
import { followZoomGestures } from "./zoom-gestures.js";
import { Zoom } from "./zoom.js";

const STEP = 1.5;

/** How far the arrows go over a picture, in CSS pixels. */
const PAN = 120;
const PANS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** A larger rendition is asked for once the zoom has rested for so long: each step is a picture. */
const SETTLED_AFTER = 150;

/** Zooms into a picture and keeps it sharp: from its tiles, or else from larger renditions. */
export class Magnifier {
  /** How many times more pixels than fitted a rendition has to have; 1 where tiles have them. */
  detail = 1;
  #stage;
  #frame;
  #canvas;
  #zoom;
  #layer;
  #picture = null;
  // undefined until it is asked for; null when there is none
  #pyramid = null;
  #available = 0;
  #visit = new AbortController();
  #timer = 0;
  #onDetail;

  /**
   * @param {{stage: HTMLElement, frame: HTMLElement, tiles: HTMLCanvasElement}} parts the frame
   *   holds the fitted picture in the middle of the stage, which the canvas covers
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

  /** What is drawn, in words for developers. */
  get statistics() {
    const scale = `${Math.round(this.#zoom.scale * 100)} % of fitted`;
    return this.#canvas.hidden ? scale : `${scale}, tiles of level ${this.#canvas.dataset.level}`;
  }

  /**
   * Takes another picture, all of which is seen at first.
   *
   * @param {{folder: string, name: string, version: string, width: number} | null} picture null for
   *   none that could be shown
   */
  enter(picture) {
    this.#visit.abort(new DOMException("another picture", "AbortError"));
    this.#visit = new AbortController();
    clearTimeout(this.#timer);
    this.#picture = picture;
    this.#pyramid = undefined;
    this.#available = 0;
    this.#layer.pyramid = null;
    this.detail = 1;
    this.#zoom.reset();
  }

  /** Takes the size at which all of the picture is seen, in CSS pixels. */
  fit(size) {
    this.#zoom.fit(size, this.#picture.width);
  }

  /** Takes the width, in pixels, of the rendition in the frame. */
  set available(width) {
    this.#available = width;
    this.#draw();
  }

  toggle() {
    this.#zoom.toggle();
  }

  /** Does what a key asks for; answers whether it was one of these. */
  pressed(key) {
    const zoom = this.#zoom;
    if (key === "+" || key === "=") zoom.step(STEP);
    else if (key === "-") zoom.step(1 / STEP);
    else if (key === "0") zoom.reset();
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
    if (isShort && this.#pyramid === null && scale > this.detail) this.#askForMore();
    this.#layer.show(isShort ? this.#zoom.place : null);
  }

  #lacksPixels() {
    if (this.#picture === null || this.#available >= this.#picture.width) return false;
    return this.#available < this.#zoom.place.width * devicePixelRatio * 0.99;
  }

  async #open() {
    const { folder, name, version } = this.#picture;
    const { signal } = this.#visit;
    this.#pyramid = "asked for";
    const pyramid = await fetchPyramid(folder, name, version, signal);
    if (signal.aborted) return;
    this.#pyramid = pyramid;
    this.#layer.pyramid = pyramid;
    this.#draw();
  }

  #askForMore() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.detail = Math.max(this.detail, this.#zoom.scale);
      this.#onDetail();
    }, SETTLED_AFTER);
  }
}

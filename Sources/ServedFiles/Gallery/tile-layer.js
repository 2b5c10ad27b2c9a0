// SPDX-License-Identifier: Apache-2.0

/** The number of cached decoded tiles of 254 × 254 pixels: about 40 MB. */
const MOST_KEPT = 150;

// Above the priority of the image that they replace; nearer to the centre first.
const TILE = -4;

/**
 * Draws the visible part of an image from the tiles of a Deep Zoom pyramid.
 *
 * Level 0 is one pixel, each further level twice as large, the last level the image itself. Tiles
 * of a coarser level replace missing tiles; the fitted image is below all of them.
 */
export class TileLayer {
  #canvas;
  #loader;
  #pyramid = null;
  #tiles = new Map();
  #place = null;
  #frame = 0;

  /** @param {HTMLCanvasElement} canvas a canvas of the size of the stage */
  constructor(canvas, loader) {
    this.#canvas = canvas;
    this.#loader = loader;
  }

  /**
   * Sets the image.
   *
   * @param {object | null} pyramid its `width`, `height`, `tileSize`, `overlap` and `tileURL`, a
   *   function of level, column and row; null for an image without tiles
   */
  set pyramid(pyramid) {
    for (const tile of this.#tiles.values()) tile.request.release();
    this.#tiles.clear();
    this.#pyramid = pyramid;
    this.#drawSoon();
  }

  /**
   * Draws the visible tiles of the image at a position.
   *
   * @param {{left: number, top: number, width: number} | null} place in CSS pixels from the
   *   canvas's corner; null for nothing
   */
  show(place) {
    this.#place = place;
    this.#drawSoon();
  }

  #drawSoon() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const canvas = this.#canvas;
    const isNeeded = this.#place !== null && this.#pyramid !== null;
    canvas.hidden = !isNeeded;
    if (!isNeeded) return;
    const width = Math.round(canvas.clientWidth * devicePixelRatio);
    const height = Math.round(canvas.clientHeight * devicePixelRatio);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const level = this.#level();
    const wanted = this.#wanted(level, width, height);
    this.#request(wanted);
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    context.imageSmoothingQuality = "high";
    const isWhole = [...wanted.keys()].every((url) => this.#tiles.get(url)?.image);
    const drawn = [...this.#tiles.values()].filter((tile) =>
      tile.image !== null && (isWhole ? tile.level === level : tile.level <= level));
    drawn.sort((one, other) => one.level - other.level);
    for (const tile of drawn) this.#drawTile(context, tile);
    canvas.dataset.level = level;
    canvas.dataset.complete = isWhole;
  }

  get #highest() {
    const { width, height } = this.#pyramid;
    return Math.ceil(Math.log2(Math.max(width, height)));
  }

  /** Returns the coarsest level with at least one pixel per device pixel. */
  #level() {
    const scale = (this.#place.width * devicePixelRatio) / this.#pyramid.width;
    // A difference below 1 % is rounding, and does not justify four times the tiles.
    const level = Math.ceil(this.#highest + Math.log2(scale) - 0.01);
    return Math.max(0, Math.min(this.#highest, level));
  }

  /** Returns the position of a level on the canvas, in whole device pixels to keep tiles sharp. */
  #geometry(level) {
    const { width, height } = this.#pyramid;
    const shrink = 2 ** (this.#highest - level);
    return {
      left: Math.round(this.#place.left * devicePixelRatio),
      top: Math.round(this.#place.top * devicePixelRatio),
      scale: (this.#place.width * devicePixelRatio * shrink) / width,
      width: Math.ceil(width / shrink),
      height: Math.ceil(height / shrink),
    };
  }

  /** Returns the visible tiles of a level: positions by URL. */
  #wanted(level, canvasWidth, canvasHeight) {
    const { tileSize, tileURL } = this.#pyramid;
    const { left, top, scale, width, height } = this.#geometry(level);
    const range = (start, length, limit) => {
      const first = Math.max(0, Math.floor(-start / scale / tileSize));
      const end = Math.min(limit, Math.max(0, (length - start) / scale));
      return [first, Math.ceil(end / tileSize)];
    };
    const [firstColumn, endColumn] = range(left, canvasWidth, width);
    const [firstRow, endRow] = range(top, canvasHeight, height);
    const wanted = new Map();
    for (let row = firstRow; row < endRow; row += 1) {
      for (let column = firstColumn; column < endColumn; column += 1) {
        const fromCentre = Math.hypot(
          column + 0.5 - (firstColumn + endColumn) / 2, row + 0.5 - (firstRow + endRow) / 2);
        wanted.set(tileURL(level, column, row), { level, column, row, fromCentre });
      }
    }
    return wanted;
  }

  #request(wanted) {
    for (const [url, { level, column, row, fromCentre }] of wanted) {
      const priority = TILE + Math.min(0.9, fromCentre / 100);
      let tile = this.#tiles.get(url);
      if (tile !== undefined) {
        tile.request.priority = priority;
        // Reinserted, so that it is evicted last.
        this.#tiles.delete(url);
        this.#tiles.set(url, tile);
        continue;
      }
      tile = { level, column, row, image: null };
      this.#tiles.set(url, tile);
      tile.request = this.#loader.request(url, { priority, onLoad: () => this.#decode(tile) });
      if (tile.request.objectURL !== null) this.#decode(tile);
    }
    // Loads of tiles outside the window are aborted; loaded tiles stay cached.
    for (const [url, tile] of this.#tiles) {
      if (wanted.has(url)) continue;
      if (tile.image !== null && this.#tiles.size <= MOST_KEPT) continue;
      this.#tiles.delete(url);
      tile.request.release();
    }
  }

  async #decode(tile) {
    const image = new Image();
    image.src = tile.request.objectURL;
    try {
      await image.decode();
    } catch {
      return;
    }
    tile.image = image;
    this.#drawSoon();
  }

  // Overlapping pixels are drawn as well, which avoids seams between tiles.
  #drawTile(context, { level, column, row, image }) {
    const { tileSize, overlap } = this.#pyramid;
    const { left, top, scale } = this.#geometry(level);
    const x = Math.max(0, column * tileSize - overlap);
    const y = Math.max(0, row * tileSize - overlap);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    context.drawImage(image, left + x * scale, top + y * scale, width, height);
  }
}

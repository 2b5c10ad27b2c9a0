// SPDX-License-Identifier: Apache-2.0

/** Decoded tiles that are kept, of 254 × 254 pixels: some 40 MB. */
const MOST_KEPT = 150;

// Before the picture itself, whose place they take; nearer to the centre first.
const TILE = -4;

/**
 * Draws the part of a picture that is looked at from the tiles of a Deep Zoom pyramid.
 *
 * Level 0 is one pixel, each further one twice as large, the last the picture itself. Tiles of a
 * coarser level stand in for those that are not there yet; under all of them lies the picture as it
 * fits the window, so nothing is ever empty.
 */
export class TileLayer {
  #canvas;
  #loader;
  #pyramid = null;
  #tiles = new Map();
  #place = null;
  #frame = 0;

  /** @param {HTMLCanvasElement} canvas as large as what it is drawn over */
  constructor(canvas, loader) {
    this.#canvas = canvas;
    this.#loader = loader;
  }

  /**
   * Takes another picture.
   *
   * @param {object | null} pyramid its `width`, `height`, `tileSize`, `overlap` and `tileURL`, a
   *   function of level, column and row; null for a picture without tiles
   */
  set pyramid(pyramid) {
    for (const tile of this.#tiles.values()) tile.request.release();
    this.#tiles.clear();
    this.#pyramid = pyramid;
    this.#drawSoon();
  }

  /**
   * Draws the tiles for the whole picture at a place, as far as it is on the canvas.
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

  /** The coarsest level that has a pixel for every device pixel. */
  #level() {
    const scale = (this.#place.width * devicePixelRatio) / this.#pyramid.width;
    // What is off by less than a hundredth is rounding, and not worth four times the tiles.
    const level = Math.ceil(this.#highest + Math.log2(scale) - 0.01);
    return Math.max(0, Math.min(this.#highest, level));
  }

  /** Where a level lies on the canvas, in device pixels; whole ones, or tiles would be blurred. */
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

  /** The tiles of a level that are on the canvas: places by address. */
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
        // Inserted anew, it is the last to be given up.
        this.#tiles.delete(url);
        this.#tiles.set(url, tile);
        continue;
      }
      tile = { level, column, row, image: null };
      this.#tiles.set(url, tile);
      tile.request = this.#loader.request(url, { priority, onLoad: () => this.#decode(tile) });
      if (tile.request.objectURL !== null) this.#decode(tile);
    }
    // What still loads but has left the window is given up; what is there stays while there is room.
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

  // Overlapping pixels are drawn as well: no seam shows where an edge falls between pixels.
  #drawTile(context, { level, column, row, image }) {
    const { tileSize, overlap } = this.#pyramid;
    const { left, top, scale } = this.#geometry(level);
    const x = Math.max(0, column * tileSize - overlap);
    const y = Math.max(0, row * tileSize - overlap);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    context.drawImage(image, left + x * scale, top + y * scale, width, height);
  }
}

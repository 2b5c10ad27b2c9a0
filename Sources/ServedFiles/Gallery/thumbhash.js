// SPDX-License-Identifier: Apache-2.0

// Compensates the loss of saturation by quantization.
const SATURATION = 1.25;

/**
 * Reads a ThumbHash: an image in about 25 bytes, sent before any rendition of it.
 *
 * @param {string} base64
 * @returns {Placeholder | null} null for an invalid ThumbHash
 * @see Evan Wallace, “ThumbHash”, https://evanw.github.io/thumbhash/
 */
export function parseThumbHash(base64) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
  const shortSide = bytes[3] & 7;
  if (bytes.length < 5 || shortSide === 0) return null;
  const placeholder = new Placeholder(bytes, shortSide);
  return placeholder.byteCount === bytes.length ? placeholder : null;
}

/** The decoded values of a hash, which render its image. */
class Placeholder {
  constructor(bytes, shortSide) {
    const means = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16);
    const scales = bytes[3] | (bytes[4] << 8);
    this.hasAlpha = (bytes[2] & 0x80) !== 0;
    const longSide = this.hasAlpha ? 5 : 7;
    const isLandscape = (bytes[4] & 0x80) !== 0;
    const [columns, rows] = isLandscape ? [longSide, shortSide] : [shortSide, longSide];
    this.aspectRatio = columns / rows;
    let place = this.hasAlpha ? 12 : 10;
    const channel = (mean, scale, width, height) => {
      const waves = [];
      for (let y = 0; y < height; y += 1) {
        for (let x = y === 0 ? 1 : 0; x * height < width * (height - y); x += 1) {
          const bits = (bytes[place >> 1] >> ((place & 1) * 4)) & 15;
          waves.push({ x, y, strength: (bits / 7.5 - 1) * scale });
          place += 1;
        }
      }
      return { mean, waves };
    };
    this.brightness = channel(
      (means & 63) / 63, ((means >> 18) & 31) / 31, Math.max(3, columns), Math.max(3, rows));
    this.yellow = channel(
      ((means >> 6) & 63) / 31.5 - 1, (((scales >> 3) & 63) / 63) * SATURATION, 3, 3);
    this.red = channel(
      ((means >> 12) & 63) / 31.5 - 1, (((scales >> 9) & 63) / 63) * SATURATION, 3, 3);
    this.alpha = this.hasAlpha
      ? channel((bytes[5] & 15) / 15, (bytes[5] >> 4) / 15, 5, 5)
      : { mean: 1, waves: [] };
    this.byteCount = (place + 1) >> 1;
  }

  /** The mean of all colours, as red, green, blue and alpha from 0 to 255. */
  get averageColor() {
    const color = new Uint8ClampedArray(4);
    writeColor(color, 0, this.brightness.mean, this.yellow.mean, this.red.mean, this.alpha.mean);
    return color;
  }

  /**
   * Draws the placeholder.
   *
   * @param {number} side the longer side in pixels
   * @returns {{width: number, height: number, data: Uint8ClampedArray}} RGBA, not premultiplied
   */
  image(side = 32) {
    const ratio = this.aspectRatio;
    const width = ratio > 1 ? side : Math.max(1, Math.round(side * ratio));
    const height = ratio > 1 ? Math.max(1, Math.round(side / ratio)) : side;
    const [columns, rows] = [cosines(width), cosines(height)];
    const data = new Uint8ClampedArray(width * height * 4);
    const channels = [this.brightness, this.yellow, this.red, this.alpha];
    const [brightness, yellow, red, alpha] = channels.map((channel) =>
      values(channel, columns, rows, width, height));
    for (let i = 0; i < width * height; i += 1) {
      writeColor(data, i * 4, brightness[i], yellow[i], red[i], alpha[i]);
    }
    return { width, height, data };
  }
}

/** `cosines[wave * size + place]`, for the seven frequencies of a hash. */
function cosines(size) {
  const table = new Float64Array(7 * size);
  for (let wave = 0; wave < 7; wave += 1) {
    for (let place = 0; place < size; place += 1) {
      table[wave * size + place] = Math.cos((Math.PI / size) * (place + 0.5) * wave);
    }
  }
  return table;
}

// Separable: first along the rows, once per vertical frequency, which is a quarter of the work.
function values({ mean, waves }, columns, rows, width, height) {
  const result = new Float64Array(width * height).fill(mean);
  const line = new Float64Array(width);
  for (let i = 0; i < waves.length; ) {
    const { y } = waves[i];
    line.fill(0);
    for (; i < waves.length && waves[i].y === y; i += 1) {
      const { x, strength } = waves[i];
      for (let column = 0; column < width; column += 1) {
        line[column] += 2 * strength * columns[x * width + column];
      }
    }
    for (let row = 0; row < height; row += 1) {
      const factor = rows[y * height + row];
      for (let column = 0; column < width; column += 1) {
        result[row * width + column] += line[column] * factor;
      }
    }
  }
  return result;
}

/** Converts the opponent colours to RGB; the array clamps and rounds. */
function writeColor(data, place, brightness, yellow, red, alpha) {
  const limit = (value) => 255 * Math.min(1, Math.max(0, value));
  const blue = brightness - (2 / 3) * yellow;
  const strongRed = (3 * brightness - blue + red) / 2;
  data[place] = limit(strongRed);
  data[place + 1] = limit(strongRed - red);
  data[place + 2] = limit(blue);
  data[place + 3] = limit(alpha);
}

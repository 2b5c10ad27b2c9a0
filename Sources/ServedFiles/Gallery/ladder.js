// SPDX-License-Identifier: Apache-2.0

/**
 * Returns the smallest step of the ladder of at least `side` device pixels.
 *
 * @returns {number | null} null above the largest step, which means the original
 */
export function ladderStep(ladder, side) {
  for (const step of ladder) {
    // Tolerates rounding errors of CSS px × devicePixelRatio.
    if (step >= side - 0.01) return step;
  }
  return null;
}

/** Returns the step below `step`; `Infinity` is the original, and the lowest step has none. */
export function coarserStep(ladder, step) {
  return ladder.findLast((other) => other < step) ?? step;
}

/**
 * Returns the longest side, in device pixels, of an image that fills a tile of `width` × `height`.
 *
 * An image outside the aspect limits of the layout is cropped by its tile, and therefore needs more
 * pixels than the tile has.
 */
export function tileSide(width, height, aspect, layout, devicePixelRatio) {
  let side = Math.max(width, height);
  if (aspect > layout.maxAspect) side = height * aspect;
  else if (aspect < layout.minAspect && aspect > 0) side = width / aspect;
  return side * devicePixelRatio;
}

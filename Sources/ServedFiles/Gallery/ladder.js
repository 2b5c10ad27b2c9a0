// SPDX-License-Identifier: Apache-2.0

/**
 * The smallest step of the ladder that covers `side` device pixels.
 *
 * @returns {number | null} null above the top of the ladder, where only the original will do
 */
export function ladderStep(ladder, side) {
  for (const step of ladder) {
    // A hundredth of a pixel is rounding in CSS px × devicePixelRatio, not a need.
    if (step >= side - 0.01) return step;
  }
  return null;
}

/** The step below `step`, which may be `Infinity` for the original; the lowest has none below. */
export function coarserStep(ladder, step) {
  return ladder.findLast((other) => other < step) ?? step;
}

/**
 * The longest side, in device pixels, of a picture that fills a tile of `width` × `height`.
 *
 * A picture beyond the layout's aspects is cropped by its tile, so it reaches beyond the tile and
 * needs more pixels than the tile has.
 */
export function tileSide(width, height, aspect, layout, devicePixelRatio) {
  let side = Math.max(width, height);
  if (aspect > layout.maxAspect) side = height * aspect;
  else if (aspect < layout.minAspect && aspect > 0) side = width / aspect;
  return side * devicePixelRatio;
}

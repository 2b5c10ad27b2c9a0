// SPDX-License-Identifier: Apache-2.0

/**
 * Returns the last of `count` elements for which a condition holds, if it holds for all before; 0 if it
 * holds for none; -1 without elements.
 */
export function lastIndex(count, holds) {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return high < 0 ? -1 : low;
}

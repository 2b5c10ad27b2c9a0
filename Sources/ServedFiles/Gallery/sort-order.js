// SPDX-License-Identifier: Apache-2.0

import { remember, remembered } from "./remembered.js";

/** The maximum number of images: 2^22 indices and a date fit exactly into a double. */
const MOST_PLACES = 2 ** 22;

/**
 * Returns the indices of images in an order.
 *
 * @param {number[]} modified seconds since 1970, in the order of the names
 * @param {"name" | "newest" | "oldest"} order equal dates are ordered by name
 * @returns {Uint32Array | null} null for the unchanged order
 */
export function sortedPlaces(modified, order) {
  if (order === "name") return null;
  const sign = order === "newest" ? -1 : 1;
  // Sorting numbers is several times faster than sorting with a comparison function.
  const keys = Float64Array.from(modified, (time, place) => sign * time * MOST_PLACES + place);
  keys.sort();
  return Uint32Array.from(keys, (key) => ((key % MOST_PLACES) + MOST_PLACES) % MOST_PLACES);
}

/** The menu of sort orders; the choice is stored. */
export class SortControl {
  constructor(select, onChange) {
    const orders = Array.from(select.options, (option) => option.value);
    this.value = remembered("order", orders) ?? "name";
    select.value = this.value;
    select.addEventListener("change", () => {
      this.value = select.value;
      remember("order", this.value);
      onChange();
    });
  }
}

// SPDX-License-Identifier: Apache-2.0

import { remember, remembered } from "./remembered.js";

/** Pictures that an order can tell apart; 2^22 of them and a date fit into a double exactly. */
const MOST_PLACES = 2 ** 22;

/**
 * The places of pictures in an order.
 *
 * @param {number[]} modified seconds since 1970, in the order of the names
 * @param {"name" | "newest" | "oldest"} order equal dates are ordered by name
 * @returns {Uint32Array | null} null for the order in which they are
 */
export function sortedPlaces(modified, order) {
  if (order === "name") return null;
  const sign = order === "newest" ? -1 : 1;
  // Numbers sort several times faster than anything that is compared by a function.
  const keys = Float64Array.from(modified, (time, place) => sign * time * MOST_PLACES + place);
  keys.sort();
  return Uint32Array.from(keys, (key) => ((key % MOST_PLACES) + MOST_PLACES) % MOST_PLACES);
}

/** The menu of orders; the choice outlives the page. */
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

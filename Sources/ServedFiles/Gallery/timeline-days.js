// SPDX-License-Identifier: Apache-2.0

import { lastIndex } from "./binary-search.js";

/** The days of a timeline, newest first, and the images of each. */
export class TimelineDays {
  /**
   * @param {{date: string[], count: number[]}} days dates such as `2024-07-14`
   */
  constructor({ date, count }) {
    this.date = date;
    this.count = count;
    /** The first image of each day, then the count of images. */
    this.starts = new Int32Array(date.length + 1);
    count.forEach((images, day) => (this.starts[day + 1] = this.starts[day] + images));
  }

  /** The number of images. */
  get total() {
    return this.starts.at(-1);
  }

  /** Returns the day that contains an image. */
  dayOf(index) {
    return lastIndex(this.date.length, (day) => this.starts[day] <= index);
  }

  /** Returns the day of a date; of the next older one if it has no images; -1 without images. */
  dayAt(date) {
    const newer = lastIndex(this.date.length, (day) => this.date[day] > date);
    const isAfter = newer >= 0 && this.date[newer] > date;
    return Math.min(isAfter ? newer + 1 : 0, this.date.length - 1);
  }

  /** Returns the images `[start, end]` of a day. */
  range(day) {
    return [this.starts[day], this.starts[day + 1]];
  }

  /**
   * Replaces days; a count of 0 removes a day.
   *
   * @param {Uint8Array} codes a byte for each image of these days
   * @param {{date: string[], count: number[]}} changes
   * @param {Uint8Array} changedCodes a byte for each image of `changes`
   * @returns {{days: TimelineDays, codes: Uint8Array}}
   */
  merged(codes, changes, changedCodes) {
    const date = [];
    const count = [];
    const parts = [];
    const add = (day, images, part) => {
      if (images === 0) return;
      date.push(day);
      count.push(images);
      parts.push(part);
    };
    let [old, next, offset] = [0, 0, 0];
    while (old < this.date.length || next < changes.date.length) {
      const isOld = next === changes.date.length || this.date[old] > changes.date[next];
      if (isOld) {
        add(this.date[old], this.count[old], codes.subarray(...this.range(old)));
        old += 1;
        continue;
      }
      if (this.date[old] === changes.date[next]) old += 1;
      const end = offset + changes.count[next];
      add(changes.date[next], changes.count[next], changedCodes.subarray(offset, end));
      offset = end;
      next += 1;
    }
    return { days: new TimelineDays({ date, count }), codes: concatenate(parts) };
  }
}

function concatenate(parts) {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += part.length;
  }
  return joined;
}

// SPDX-License-Identifier: Apache-2.0

import { lastIndex } from "./binary-search.js";
import { monthName, monthText } from "./text.js";

/** The sections of a folder: months, or first letters. */
export class Sections {
  #listing;
  #isByDate;
  #hasLetters;

  /** @param {"name" | "newest" | "oldest"} order of the listing */
  constructor(listing, order) {
    this.#listing = listing;
    this.#isByDate = order !== "name";
    const { names } = listing;
    // File names of cameras start with the same letters: then the name is shown instead of a letter.
    this.#hasLetters = names.length > 0 && letter(names[0]) !== letter(names.at(-1));
  }

  /** Returns the label of an image's position. */
  label(index) {
    const { names, modified } = this.#listing;
    if (this.#isByDate) return monthText(modified[index]);
    return this.#hasLetters ? letter(names[index]) : names[index].replace(/\.[^.]*$/, "");
  }

  /** Returns the first images of years or letters: `[{ index, label, isMinor }]`. */
  starts() {
    if (this.#isByDate) return this.#years();
    return this.#hasLetters ? this.#letters() : [];
  }

  #letters() {
    const starts = [];
    let last = "";
    this.#listing.names.forEach((name, index) => {
      if (name[0] === last) return;
      last = name[0];
      const label = letter(name);
      if (starts.at(-1)?.label !== label) starts.push({ index, label });
    });
    return starts;
  }

  #years() {
    const { modified } = this.#listing;
    const starts = [];
    for (let index = 0; index < modified.length; ) {
      const [start, year] = [index, yearOf(modified[index])];
      starts.push({ index, label: `${year}` });
      // Dates are sorted.
      const isSame = (place) => yearOf(modified[start + place]) === year;
      index += lastIndex(modified.length - start, isSame) + 1;
    }
    return starts;
  }
}

/** The sections of a timeline: months, which are minor ones of years. */
export class TimelineSections {
  #timeline;
  // Texts by month: one is needed in each frame that scrolls.
  #labels = new Map();

  constructor(timeline) {
    this.#timeline = timeline;
  }

  label(index) {
    const { days, total } = this.#timeline;
    if (total === 0) return "";
    const date = days.date[days.dayOf(index)];
    const month = date.slice(0, 7);
    let label = this.#labels.get(month);
    if (label === undefined) {
      label = monthText(secondsOf(date));
      this.#labels.set(month, label);
    }
    return label;
  }

  starts() {
    const { date, starts } = this.#timeline.days;
    const found = [];
    let last = "";
    date.forEach((day, i) => {
      const month = day.slice(0, 7);
      if (month === last) return;
      const isMinor = month.slice(0, 4) === last.slice(0, 4);
      const label = isMinor ? monthName(secondsOf(day)) : month.slice(0, 4);
      found.push({ index: starts[i], label, isMinor });
      last = month;
    });
    return found;
  }
}

/** Returns noon of a date, which is the same date in the time zone of the browser. */
function secondsOf(date) {
  return new Date(`${date}T12:00:00`).getTime() / 1000;
}

function yearOf(seconds) {
  return new Date(seconds * 1000).getFullYear();
}

/** Returns the first letter of a name without diacritics; `#` for other characters. */
function letter(name) {
  const first = name.normalize("NFD")[0].toUpperCase();
  return /\p{L}/u.test(first) ? first : "#";
}

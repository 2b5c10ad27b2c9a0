// SPDX-License-Identifier: Apache-2.0

const months = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });

/** Tells what part of a folder a picture is in: a month, or a letter. */
export class Sections {
  #listing;
  #isByDate;
  #hasLetters;

  /** @param {"name" | "newest" | "oldest"} order of the listing */
  constructor(listing, order) {
    this.#listing = listing;
    this.#isByDate = order !== "name";
    const { names } = listing;
    // Names as cameras give them all begin alike: then a letter says nothing, but the name does.
    this.#hasLetters = names.length > 0 && letter(names[0]) !== letter(names.at(-1));
  }

  /** What to call the place of a picture. */
  label(index) {
    const { names, modified } = this.#listing;
    if (this.#isByDate) return months.format(modified[index] * 1000);
    return this.#hasLetters ? letter(names[index]) : names[index].replace(/\.[^.]*$/, "");
  }

  /** The first pictures of years or letters: `[{ index, label }]`. */
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
      const year = yearOf(modified[index]);
      starts.push({ index, label: `${year}` });
      // Dates are in order, so the next year's first is found by halving.
      let high = modified.length;
      let low = index + 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (yearOf(modified[middle]) === year) low = middle + 1;
        else high = middle;
      }
      index = low;
    }
    return starts;
  }
}

function yearOf(seconds) {
  return new Date(seconds * 1000).getFullYear();
}

/** A name's first letter without its accents; `#` for all that is none. */
function letter(name) {
  const first = name.normalize("NFD")[0].toUpperCase();
  return /\p{L}/u.test(first) ? first : "#";
}

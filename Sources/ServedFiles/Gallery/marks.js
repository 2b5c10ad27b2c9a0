// SPDX-License-Identifier: Apache-2.0

import { fetchMarks, mark } from "./library.js";
import { join } from "./routing.js";

/** The best rating, in stars. */
export const MOST_STARS = 5;

/** The favourites and ratings of images, with changes of this page. */
export class Marks {
  /** Called after a change. */
  onChange = () => {};
  // By path: properties that this page has changed, with the time at which the server had stored them.
  #changes = new Map();
  // The marks of a folder, whose listing does not contain them.
  #folder = { path: null, generation: null, marks: new Map() };

  isFavourite(image) {
    return this.#of(image).isFavourite ?? false;
  }

  /** Returns the stars of an image; 0 without a rating. */
  rating(image) {
    return this.#of(image).rating ?? 0;
  }

  /** Returns the rating that all images have; null if there are several. */
  commonRating(images) {
    const first = images.length > 0 ? this.rating(images[0]) : null;
    return images.every((image) => this.rating(image) === first) ? first : null;
  }

  #of({ folder, name, isFavourite, rating }) {
    const path = join(folder, name);
    const known = isFavourite === undefined ? this.#folder.marks.get(path) : { isFavourite, rating };
    return { ...known, ...this.#changes.get(path)?.values };
  }

  /** Fetches the marks of a folder, unless the library is unchanged. */
  async refresh(path, generation) {
    if (path === this.#folder.path && generation === this.#folder.generation) return;
    const start = performance.now();
    const { name, rating, favourite } = await fetchMarks(path);
    const marks = new Map(name.map((file, i) =>
      [join(path, file), { isFavourite: favourite[i] === true, rating: rating[i] ?? 0 }]));
    // Not before: a failed request is repeated with the next check.
    this.#folder = { path, generation, marks };
    this.settle(start);
    this.onChange();
  }

  /** Drops the changes that the server had stored at a time; what was requested later contains them. */
  settle(time) {
    for (const [path, { stored }] of this.#changes) {
      if (stored < time) this.#changes.delete(path);
    }
  }

  /**
   * Makes images favourites, or none if all are.
   *
   * @throws {RefusedError} when the server returns an error
   */
  toggleFavourites(images) {
    return this.#set(images, { isFavourite: !images.every((image) => this.isFavourite(image)) });
  }

  /** Rates images, or removes the rating if all have it; throws as `toggleFavourites`. */
  rate(images, stars) {
    return this.#set(images, { rating: this.commonRating(images) === stars ? 0 : stars });
  }

  /** Shows marks at once, and reverts them on an error. */
  async #set(images, values) {
    const paths = images.map(({ folder, name }) => join(folder, name));
    const before = paths.map((path) => this.#changes.get(path));
    const changes = before.map((change) =>
      ({ values: { ...change?.values, ...values }, stored: Infinity }));
    const replace = (next) => {
      paths.forEach((path, i) => {
        if (next[i] === undefined) this.#changes.delete(path);
        else this.#changes.set(path, next[i]);
      });
      this.onChange();
    };
    replace(changes);
    const { isFavourite: favourite, rating } = values;
    try {
      await mark(paths, { favourite, rating });
    } catch (error) {
      replace(before);
      throw error;
    }
    for (const change of changes) change.stored = performance.now();
    // The images of a selection outlive their listing.
    for (const image of images) if (image.isFavourite !== undefined) Object.assign(image, values);
  }
}

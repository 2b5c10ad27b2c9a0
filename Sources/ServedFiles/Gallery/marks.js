// SPDX-License-Identifier: Apache-2.0

import { fetchImages, mark } from "./library.js";
import { join } from "./routing.js";

/** The number of images of a request, and the maximum number of requests. */
const PAGE = 500;
const MOST_PAGES = 20;

/** The favourites among the images, with changes of this page. */
export class Marks {
  /** Called after a change. */
  onChange = () => {};
  #changes = new Map();
  // All favourites, for images of folders, whose listings do not contain them.
  #favourites = new Set();
  #generation = null;

  isFavourite({ folder, name, isFavourite }) {
    const path = join(folder, name);
    return this.#changes.get(path) ?? isFavourite ?? this.#favourites.has(path);
  }

  /** Fetches all favourites, unless the library is unchanged. */
  async refresh(generation) {
    if (generation === this.#generation) return;
    const found = new Set();
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const range = { first: null, last: null, offset: page * PAGE, limit: PAGE };
      const { pictures } = await fetchImages("is:favourite", range);
      pictures.name.forEach((name, i) => found.add(join(pictures.folder[i], name)));
      if (pictures.name.length < PAGE) break;
    }
    this.#favourites = found;
    // Not before: a failed request is repeated with the next check.
    this.#generation = generation;
    this.onChange();
  }

  /**
   * Makes images favourites, or none if all are; shows it at once, and reverts it on an error.
   *
   * @throws {RefusedError} when the server returns an error
   */
  async toggleFavourites(images) {
    const favourite = !images.every((image) => this.isFavourite(image));
    const paths = images.map(({ folder, name }) => join(folder, name));
    const before = images.map((image) => this.isFavourite(image));
    paths.forEach((path) => this.#changes.set(path, favourite));
    this.onChange();
    try {
      await mark(paths, { favourite });
    } catch (error) {
      paths.forEach((path, i) => this.#changes.set(path, before[i]));
      this.onChange();
      throw error;
    }
  }
}

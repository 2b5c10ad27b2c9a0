// SPDX-License-Identifier: Apache-2.0

import { mark } from "./library.js";
import { join } from "./routing.js";

/** The favourites among the images, with changes of this page. */
export class Marks {
  /** Called after a change. */
  onChange = () => {};
  #changes = new Map();

  isFavourite({ folder, name, isFavourite }) {
    return this.#changes.get(join(folder, name)) ?? isFavourite === true;
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

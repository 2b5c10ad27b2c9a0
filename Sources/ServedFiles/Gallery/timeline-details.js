// SPDX-License-Identifier: Apache-2.0

import { fetchImages } from "./library.js";
import { join } from "./routing.js";

/** The images of a day are fetched and evicted in blocks of this number. */
const BLOCK = 128;

/** The maximum number of images of a request. */
const PAGE = 500;

/** The number of images before and after the window that a request includes. */
const MARGIN = 150;

/** The number of images whose properties are kept. */
const MOST_KEPT = 8000;

/** The properties of the images of a timeline, fetched for the images near the window. */
export class TimelineDetails {
  onArrival = () => {};
  #query;
  #days;
  // Images by `date/block`; Map iterates in insertion order, so the least recently needed is first.
  #blocks;
  #kept = 0;
  #loads = new Set();
  #needed = [0, 0];

  /**
   * @param {TimelineDays} days
   * @param {Map<string, object[]>} blocks of unchanged days
   */
  constructor(query, days, blocks) {
    this.#query = query;
    this.#days = days;
    this.#blocks = blocks;
    for (const images of blocks.values()) this.#kept += images.length;
  }

  image(day, place) {
    return this.#blocks.get(this.#key(day, Math.floor(place / BLOCK)))?.[place % BLOCK] ?? null;
  }

  /** Returns the place of an image in a day; -1 if its properties are not loaded. */
  placeOf(day, path) {
    const date = this.#days.date[day];
    for (const [key, images] of this.#blocks) {
      const [keyDate, block] = key.split("/");
      const place = keyDate !== date ? -1
        : images.findIndex(({ folder, name }) => join(folder, name) === path);
      if (place >= 0) return block * BLOCK + place;
    }
    return -1;
  }

  /** Returns the blocks of all days except some. */
  without(dates) {
    return new Map([...this.#blocks].filter(([key]) => !dates.has(key.split("/")[0])));
  }

  need(first, end) {
    const [from, to] = [Math.max(0, first - MARGIN), Math.min(this.#days.total, end + MARGIN)];
    this.#needed = [from, to];
    for (const load of this.#loads) {
      if (!load.isPinned && (load.end <= from || load.start >= to)) load.controller.abort();
    }
    for (const block of this.#blocksOf(first, end)) this.#touch(block.key);
    if (this.#missing(first, end).length > 0) this.#request(this.#missing(from, to), false);
  }

  /** Keeps the properties of the newest images, in columns, which were fetched in the generation of the days. */
  keepNewest(pictures) {
    const count = Math.min(pictures.name.length, this.#days.total);
    const blocks = this.#blocksOf(0, count).filter((block) => block.end <= count);
    if (blocks.length === 0) return;
    if (this.#isConsistent(blocks, pictures.taken.slice(0, blocks.at(-1).end))) this.#keep(blocks, pictures);
  }

  async load(first, end) {
    this.#request(this.#missing(first, end), true);
    const isAwaited = (load) => load.start < end && load.end > first;
    for (const load of this.#loads) load.isPinned ||= isAwaited(load);
    await Promise.all([...this.#loads].filter(isAwaited).map((load) => load.promise));
  }

  end() {
    for (const load of this.#loads) load.controller.abort();
  }

  #key(day, block) {
    return `${this.#days.date[day]}/${block}`;
  }

  /** Returns the blocks that overlap the images `first ..< end`. */
  #blocksOf(first, end) {
    const blocks = [];
    let day = this.#days.dayOf(first);
    let place = first - this.#days.starts[day];
    while (day < this.#days.date.length && this.#days.starts[day] + place < end) {
      const number = Math.floor(place / BLOCK);
      const count = this.#days.count[day];
      const start = this.#days.starts[day] + number * BLOCK;
      const length = Math.min(BLOCK, count - number * BLOCK);
      if (length > 0) blocks.push({ key: this.#key(day, number), day, start, end: start + length });
      place = (number + 1) * BLOCK;
      if (place < count) continue;
      day += 1;
      place = 0;
    }
    return blocks;
  }

  /** Returns blocks that are neither loaded nor requested. */
  #missing(first, end) {
    const isRequested = ({ start }) => [...this.#loads].some((load) =>
      !load.controller.signal.aborted && load.start <= start && start < load.end);
    return this.#blocksOf(first, end)
      .filter((block) => !this.#blocks.has(block.key) && !isRequested(block));
  }

  /** Requests blocks, adjacent ones together. */
  #request(blocks, isPinned) {
    let run = [];
    const send = () => {
      if (run.length > 0) this.#send(run, isPinned);
      run = [];
    };
    for (const block of blocks) {
      const isNext = run.length > 0 && run.at(-1).end === block.start;
      if (!isNext || block.end - run[0].start > PAGE) send();
      run.push(block);
    }
    send();
  }

  #send(blocks, isPinned) {
    const [start, end] = [blocks[0].start, blocks.at(-1).end];
    const load = { start, end, isPinned, controller: new AbortController() };
    this.#loads.add(load);
    load.promise = this.#fetch(blocks, load.controller.signal).catch((error) => {
      // Of no consequence: the images are requested again when they are needed.
      if (load.isPinned && !load.controller.signal.aborted) throw error;
    }).finally(() => this.#loads.delete(load));
    // `load` throws the error; without it there is no caller.
    load.promise.catch(() => {});
  }

  async #fetch(blocks, signal) {
    const [first, last] = [blocks[0], blocks.at(-1)];
    const range = {
      first: this.#days.date[first.day],
      last: this.#days.date[last.day],
      offset: first.start - this.#days.starts[first.day],
      limit: last.end - first.start,
    };
    const { pictures } = await fetchImages(this.#query, range, signal);
    if (!this.#isConsistent(blocks, pictures.taken)) {
      // The days have changed since the timeline was fetched.
      this.onArrival(null);
      return;
    }
    this.onArrival(this.#keep(blocks, pictures));
  }

  /** Keeps the properties of adjacent blocks, in columns; returns those of each image. */
  #keep(blocks, pictures) {
    const { start } = blocks[0];
    const images = pictures.name.map((_, i) => image(pictures, i));
    for (const block of blocks) this.#store(block.key, images.slice(block.start - start, block.end - start));
    this.#evict();
    return images;
  }

  /** Whether each image was taken on the day of its block. */
  #isConsistent(blocks, taken) {
    const start = blocks[0].start;
    if (taken.length !== blocks.at(-1).end - start) return false;
    return blocks.every((block) => {
      const date = this.#days.date[block.day];
      return taken.slice(block.start - start, block.end - start).every((time) => time.startsWith(date));
    });
  }

  #touch(key) {
    const images = this.#blocks.get(key);
    if (images === undefined) return;
    this.#blocks.delete(key);
    this.#blocks.set(key, images);
  }

  #store(key, images) {
    this.#kept += images.length - (this.#blocks.get(key)?.length ?? 0);
    this.#blocks.set(key, images);
  }

  #evict() {
    const needed = new Set(this.#blocksOf(...this.#needed).map((block) => block.key));
    for (const [key, images] of this.#blocks) {
      if (this.#kept <= MOST_KEPT) return;
      if (needed.has(key)) continue;
      this.#blocks.delete(key);
      this.#kept -= images.length;
    }
  }
}

/** Returns the properties of an image from the columns of a response. */
function image(columns, i) {
  return {
    folder: columns.folder[i],
    name: columns.name[i],
    width: columns.width[i],
    height: columns.height[i],
    taken: columns.taken[i],
    modified: columns.modified?.[i],
    version: columns.version[i],
    error: columns.error?.[i] ?? null,
    placeholder: columns.placeholder?.[i],
    isFavourite: columns.favourite?.[i] === true,
    rating: columns.rating?.[i] ?? 0,
  };
}

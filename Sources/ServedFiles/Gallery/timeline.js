// SPDX-License-Identifier: Apache-2.0

import { join, timelineHash, timelineImageHash } from "./routing.js";
import { dayText } from "./text.js";
import { TimelineDays } from "./timeline-days.js";
import { TimelineDetails } from "./timeline-details.js";

/** The height of the heading of a day, in CSS pixels. */
const HEADING = 46;

/** The number of images of a day that are searched for one image. */
const MOST_LOADED = 5000;

const UNKNOWN_ASPECT = 4 / 3;

/** Width ÷ height of each code; 0 is an image whose header has not been read. */
const ASPECTS = Float32Array.from({ length: 256 }, (_, code) =>
  code === 0 ? UNKNOWN_ASPECT : 2 ** ((code - 128) / 32));

/**
 * All images of the library by day, newest first, or those that a query finds.
 *
 * Contains the number of images of each day and their aspect ratios, a byte each, so that the layout
 * is exact. Everything else is fetched for the images near the window; see `TimelineDetails`.
 * Does not change: `changed` returns another timeline.
 */
export class Timeline {
  #days;
  #codes;
  #details;

  /** @param {object} answer of `fetchTimeline`, with all days */
  static from(answer, query) {
    const [days, codes] = [new TimelineDays(answer.days), bytes(answer.aspects)];
    return new Timeline(query, answer, days, codes, new Map());
  }

  /** @param {object} newest of `fetchImages`: the newest images, as if there were no others */
  static ofNewest(newest, query) {
    const { taken, width, height } = newest.pictures;
    const counts = new Map();
    for (const date of taken.map((time) => time.slice(0, 10))) counts.set(date, (counts.get(date) ?? 0) + 1);
    const days = new TimelineDays({ date: [...counts.keys()], count: [...counts.values()] });
    const codes = Uint8Array.from(width, (pixels, i) => aspectCode(pixels, height[i]));
    const timeline = new Timeline(query, newest, days, codes, new Map());
    timeline.isPartial = true;
    timeline.keepNewest(newest.pictures);
    return timeline;
  }

  constructor(query, answer, days, codes, blocks) {
    this.query = query;
    /** The sizes of renditions. */
    this.ladder = answer.ladder;
    this.generation = answer.generation;
    /** The time at which it was requested; its images have the marks of that time. */
    this.requested = answer.requested;
    this.isCut = answer.isCut === true;
    /** Whether it has the newest images only. */
    this.isPartial = false;
    this.view = timelineHash(query);
    this.#days = days;
    this.#codes = codes;
    this.total = days.total;
    this.#details = new TimelineDetails(query, days, blocks);
  }

  get count() {
    return this.total;
  }

  /** For `justifiedRows`: the first image of each day. */
  get sections() {
    return { starts: this.#days.starts, heading: HEADING };
  }

  /** Width ÷ height of all images. */
  get aspects() {
    const aspects = new Float32Array(this.total);
    for (let i = 0; i < aspects.length; i += 1) aspects[i] = ASPECTS[this.#codes[i]];
    return aspects;
  }

  aspect(index) {
    return ASPECTS[this.#codes[index]];
  }

  /** Returns the properties of an image; null until they have arrived. */
  image(index) {
    const day = this.#days.dayOf(index);
    return this.#details.image(day, index - this.#days.starts[day]);
  }

  /** The identity of an image, independent of changes to other images. */
  key(index) {
    const image = this.image(index);
    return image === null ? `#${index}` : `${image.version}/${join(image.folder, image.name)}`;
  }

  imageHash(index) {
    const { folder, name } = this.image(index);
    return timelineImageHash(this.query, this.#date(index), folder, name);
  }

  get days() {
    return this.#days;
  }

  /** Returns the heading of a day. */
  heading(day) {
    return dayText(this.#days.date[day]);
  }

  /** Returns what `find` requires to find an image in a changed timeline. */
  marker(index) {
    const day = this.#days.dayOf(index);
    const image = this.image(index);
    const path = image === null ? null : join(image.folder, image.name);
    return { date: this.#days.date[day], place: index - this.#days.starts[day], path };
  }

  /** Returns the index of an image, or of one near it if it is gone or not loaded; -1 without any. */
  find({ date, place, path }) {
    if (this.total === 0) return -1;
    const day = this.#days.dayAt(date);
    const [start, end] = this.#days.range(day);
    if (this.#days.date[day] !== date) return start;
    const found = path === null ? -1 : this.#details.placeOf(day, path);
    return Math.min(start + (found >= 0 ? found : place), end - 1);
  }

  #isAt(index, path) {
    const image = this.image(index);
    return image !== null && join(image.folder, image.name) === path;
  }

  #date(index) {
    return this.#days.date[this.#days.dayOf(index)];
  }

  /** Fetches the properties of images near the window, and aborts requests for others. */
  need(first, end) {
    this.#details.need(first, end);
  }

  /** Keeps the properties of the newest images, in columns, which were fetched in the same generation. */
  keepNewest(pictures) {
    this.#details.keepNewest(pictures);
  }

  /** Fetches the properties of the images `first ..< end`. */
  load(first, end) {
    return this.#details.load(first, end);
  }

  /**
   * Returns the index of the image of a marker, after its properties have been fetched; -1 without it.
   *
   * @throws the errors of `fetchImages`
   */
  async locate({ date, place = 0, path }) {
    if (this.total === 0) return -1;
    if (path !== null) await this.loadDays([date]);
    const index = this.find({ date, place, path });
    return path === null || this.#isAt(index, path) ? index : -1;
  }

  /** Called with the received images, or with null if they contradict this timeline. */
  set onDetails(handler) {
    this.#details.onArrival = handler;
  }

  /** Aborts all requests. */
  end() {
    this.#details.end();
  }

  /** Returns the timeline after a change of some days. */
  changed(answer) {
    const { days, codes } = this.#days.merged(this.#codes, answer.days, bytes(answer.aspects));
    const blocks = this.#details.without(new Set(answer.days.date));
    return new Timeline(this.query, answer, days, codes, blocks);
  }

  /** Returns the dates of the days that contain the images `first ..< end`. */
  dates(first, end) {
    if (end <= first) return [];
    const [newest, oldest] = [first, end - 1].map((index) => this.#days.dayOf(index));
    return this.#days.date.slice(newest, oldest + 1);
  }

  /** Fetches the properties of the images of some days, newest first, up to a limit for each. */
  loadDays(dates) {
    // Adjacent days together, which takes fewer requests.
    const ranges = [];
    for (const date of dates) {
      const day = this.#days.dayAt(date);
      if (this.#days.date[day] !== date) continue;
      const [start, end] = this.#days.range(day);
      const last = ranges.at(-1);
      if (last?.end === start) last.end = Math.min(end, start + MOST_LOADED);
      else ranges.push({ start, end: Math.min(end, start + MOST_LOADED) });
    }
    return Promise.all(ranges.map(({ start, end }) => this.load(start, end)));
  }
}

/** Returns the code of `ASPECTS` for a size in pixels, as the server does. */
function aspectCode(width, height) {
  if (width === 0 || height === 0) return 0;
  return Math.max(1, Math.min(255, 128 + Math.round(Math.log2(width / height) * 32)));
}

function bytes(base64) {
  const text = atob(base64);
  const values = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) values[i] = text.charCodeAt(i);
  return values;
}

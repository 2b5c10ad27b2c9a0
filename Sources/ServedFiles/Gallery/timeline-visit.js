// SPDX-License-Identifier: Apache-2.0

import { fetchFirstView } from "./first-requests.js";
import { fetchStatus, fetchTimeline } from "./library.js";
import { join, timelineHash } from "./routing.js";
import { TimelineSections } from "./sections.js";
import { allTitle } from "./timeline-view.js";
import { Timeline } from "./timeline.js";

/** Milliseconds for which the timeline waits for the first images. */
const LONGEST_WAIT = 300;

/** Shows the timeline or a search, and fetches its changes. */
export class TimelineVisit {
  /** Whether the previous view stays until this one has arrived, as while the user types. */
  replacesLater;
  listing = null;
  #parts;
  #query;
  #image;
  #controller = new AbortController();
  #isChecking = false;
  #isReading = false;

  /**
   * @param {object} parts the `connection`, the `loader`, the `timelineView`, the `grid`, and `show`,
   *   which is called with this visit after a change
   * @param {object | null} previous the visit before this one
   */
  constructor(parts, { query, image }, previous) {
    this.#parts = parts;
    this.#query = query;
    this.#image = image;
    this.view = timelineHash(query);
    this.replacesLater = previous instanceof TimelineVisit;
  }

  /** Milliseconds between checks; fewer before the first images are found. */
  get pollInterval() {
    if (!this.#parts.grid.isResting || (this.#isReading && this.listing?.total === 0)) return 200;
    return 1000;
  }

  /**
   * The shown generation of the library, from which changes are awaited; null until there are images, and
   * during scrolling, when changes are not shown.
   */
  get generation() {
    const isWaiting = this.#parts.grid.isResting && this.listing !== null && this.listing.total > 0;
    return isWaiting ? this.listing.generation : null;
  }

  get title() {
    return this.#query === "" ? allTitle() : this.#query;
  }

  get sections() {
    return new TimelineSections(this.listing);
  }

  /** Shows the timeline. */
  async start() {
    const { connection, loader, timelineView, show } = this.#parts;
    const { signal } = this.#controller;
    timelineView.enter(this.#query);
    this.#isChecking = true;
    try {
      await connection.persist(async () => {
        const { isFirst, ...requests } = fetchFirstView(this.#query, signal);
        // A hidden page draws no frames.
        const showsNewest = isFirst && this.#image === null && !document.hidden;
        const rest = showsNewest ? this.#showNewest(requests) : requests.rest();
        const [newest, [answer, status]] = await Promise.all([requests.newest, rest]);
        signal.throwIfAborted();
        this.#showProgress(status);
        const timeline = Timeline.from(answer, this.#query);
        if (newest?.generation === timeline.generation) timeline.keepNewest(newest.pictures);
        this.#show(timeline);
      }, signal);
      loader.resume();
    } catch (error) {
      if (signal.aborted) return;
      this.listing = null;
      show(this);
      timelineView.showFailure(error);
    }
    this.#isChecking = false;
  }

  end() {
    this.#controller.abort(new DOMException("another view", "AbortError"));
    this.listing?.end();
  }

  reorder() {}

  /** Returns the index of the image of a route; -1 if there is none, null if that is not known yet. */
  async locate({ date, folder, image }) {
    if (this.listing === null) return null;
    const marker = { date, path: join(folder, image) };
    const { signal } = this.#controller;
    try {
      return await this.#parts.connection.persist(() => this.listing.locate(marker), signal);
    } catch {
      return null;
    }
  }

  hash(index) {
    return this.listing.imageHash(index);
  }

  /** Checks whether the timeline has changed; redraws only then, and never during scrolling. */
  async check() {
    if (this.#isChecking || this.listing === null || !this.#parts.grid.isResting) return;
    const { connection, loader, grid } = this.#parts;
    const { signal } = this.#controller;
    this.#isChecking = true;
    try {
      await connection.persist(async () => {
        const status = await fetchStatus(signal);
        this.#showProgress(status);
        if (status !== null && status.generation !== this.listing.generation) await this.#update();
      }, signal);
      loader.resume();
      // Repeats requests for properties that have failed.
      if (grid.listing === this.listing) this.listing.need(...grid.near);
    } catch (error) {
      if (signal.aborted) return;
      // May be temporary; the current view stays until the next check.
    }
    this.#isChecking = false;
  }

  /**
   * Shows the newest images before all others, whose layout takes longer, and waits for them.
   *
   * The rest is requested once the first of them is shown: its preparation would delay it.
   */
  async #showNewest({ newest, rest }) {
    const { grid, show } = this.#parts;
    const answer = await newest;
    this.#controller.signal.throwIfAborted();
    if (answer === null || answer.pictures.name.length === 0) return rest();
    this.listing = Timeline.ofNewest(answer, this.#query);
    show(this);
    const end = performance.now() + LONGEST_WAIT;
    await grid.untilShown({ all: false, end });
    const requested = rest();
    await grid.untilShown({ all: true, end });
    return requested;
  }

  #showProgress(status) {
    const wasReading = this.#isReading;
    this.#isReading = status?.state === "reading";
    this.#parts.timelineView.showProgress(status);
    if (wasReading && !this.#isReading && this.listing?.total === 0) this.#show(this.listing);
  }

  async #update() {
    const { signal } = this.#controller;
    const { listing } = this;
    const answer = await fetchTimeline(this.#query, { since: listing.generation, signal });
    if (!answer.isPartial) {
      await this.#replace(Timeline.from(answer, this.#query));
    } else if (answer.days.date.length > 0) {
      await this.#replace(listing.changed(answer));
    } else {
      listing.generation = answer.generation;
    }
  }

  /** Shows another timeline once it has the properties of the visible days, so that tiles can stay. */
  async #replace(next) {
    const visible = this.listing.dates(...this.#parts.grid.near);
    await next.loadDays(visible);
    this.#controller.signal.throwIfAborted();
    this.#show(next);
  }

  #show(listing) {
    const { timelineView, show, grid } = this.#parts;
    if (listing !== this.listing) this.listing?.end();
    this.listing = listing;
    listing.onDetails = (images) => {
      if (grid.listing !== listing) return;
      if (images === null) this.check();
      else grid.fill();
    };
    timelineView.show(listing, this.#isReading);
    show(this);
  }
}

// SPDX-License-Identifier: Apache-2.0

import { refusal } from "./api.js";
import { BlobCache } from "./blob-cache.js";
import { t } from "./strings.js";

const MOST_IN_FLIGHT = 6;
/** While the view moves: frames on time after a late one before loads start again. */
const FRAMES_AFTER_LATE = 8;
/** The duration of a late frame, in durations of the shortest one. */
const LATE = 1.5;
/** The least duration of the shortest frame in milliseconds: a display of 120 Hz may change to 60. */
const SHORTEST_FRAME = 16;
const CACHE_BYTES = 64 * 1024 * 1024;

/** The maximum attempts after a temporary error, and after a broken connection. */
const MOST_BUSY = 8;
const MOST_BROKEN = 3;

/**
 * Loads a few images at a time, nearest first, and aborts loads without a request.
 *
 * Requests for the same URL share one load, which is aborted with the last request.
 */
export class ImageLoader {
  /** Called when the server cannot be reached; no load starts until `resume`. */
  onUnreachable = () => {};

  #cache = new BlobCache(CACHE_BYTES);
  #loads = new Map();
  #inFlight = 0;
  #isHeld = false;
  #isMoving = false;
  // While the view moves: whether the next frame has to come before another load.
  #awaitsFrame = false;
  #frame = 0;
  #pausedFrames = 0;
  #shortestFrame = Infinity;
  #isOffline = false;
  #pumpIsDue = false;
  #counts = { fromMemory: 0, fetched: 0, aborted: 0 };

  /** Whether the image is cached. */
  has(url) {
    return this.#cache.has(url);
  }

  /**
   * Requests an image.
   *
   * @param {number} priority lowest first; can be changed later on the request
   * @param {(objectURL: string) => void} onLoad not called if `objectURL` is set on return
   * @param {(reason: string) => void} onFailure
   * @returns {ImageRequest} must be released when the image is no longer shown
   */
  request(url, { priority, onLoad, onFailure = () => {} }) {
    const request = new ImageRequest(this, url, priority, onLoad, onFailure);
    request.objectURL = this.#cache.acquire(url);
    if (request.objectURL !== null) {
      request.wasInMemory = true;
      this.#counts.fromMemory += 1;
      return request;
    }
    let load = this.#loads.get(url);
    if (load === undefined) {
      load = { url, requests: new Set(), controller: null, notBefore: 0, attempts: 0 };
      this.#loads.set(url, load);
    }
    load.requests.add(request);
    this.#pumpSoon();
    return request;
  }

  isStarted(url) {
    return (this.#loads.get(url)?.controller ?? null) !== null;
  }

  get statistics() {
    const { count, byteCount } = this.#cache.size;
    const waiting = [...this.#loads.values()].filter((load) => load.controller === null).length;
    const queue = { waiting, inFlight: this.#inFlight, isHeld: this.#isHeld };
    return { ...this.#counts, ...queue, cached: count, cachedBytes: byteCount };
  }

  /** While paused, loads in flight continue but no new load starts. */
  set isHeld(isHeld) {
    this.#isHeld = isHeld;
    if (!isHeld) this.#pumpSoon();
  }

  /** Whether the view moves: an image that arrives takes time of a frame, so that at most one load starts in each. */
  set isMoving(isMoving) {
    if (isMoving === this.#isMoving) return;
    this.#isMoving = isMoving;
    cancelAnimationFrame(this.#frame);
    if (isMoving) this.#frame = requestAnimationFrame((now) => this.#nextFrame(now));
    else this.#pumpSoon();
  }

  #nextFrame(now, before = null) {
    if (before !== null) {
      const duration = now - before;
      this.#shortestFrame = Math.min(this.#shortestFrame, Math.max(duration, SHORTEST_FRAME));
      if (duration > LATE * this.#shortestFrame) this.#pausedFrames = FRAMES_AFTER_LATE;
      else if (this.#pausedFrames > 0) this.#pausedFrames -= 1;
    }
    this.#awaitsFrame = this.#pausedFrames > 0;
    this.#pump();
    this.#frame = requestAnimationFrame((next) => this.#nextFrame(next, now));
  }

  /** Continues after the server was unreachable. */
  resume() {
    this.#isOffline = false;
    this.#pumpSoon();
  }

  release(request) {
    if (request.objectURL !== null) {
      if (request.isProvisional) URL.revokeObjectURL(request.objectURL);
      else this.#cache.release(request.url);
      return;
    }
    const load = this.#loads.get(request.url);
    if (load === undefined || !load.requests.delete(request)) return;
    if (load.requests.size > 0) return;
    this.#loads.delete(request.url);
    if (load.controller === null) return;
    this.#counts.aborted += 1;
    load.controller.abort();
  }

  // Starting after the current task sorts all requests of a screen first.
  #pumpSoon() {
    if (this.#pumpIsDue) return;
    this.#pumpIsDue = true;
    queueMicrotask(() => {
      this.#pumpIsDue = false;
      this.#pump();
    });
  }

  #pump() {
    while (!this.#isOffline && this.#inFlight < MOST_IN_FLIGHT) {
      const load = this.#nextLoad();
      if (load === null) return;
      this.#start(load);
    }
  }

  // A scan instead of a heap: at most about 200 entries, whose priorities change every frame.
  #nextLoad() {
    const now = performance.now();
    const waits = this.#isHeld || (this.#isMoving && this.#awaitsFrame);
    let next = null;
    let nearest = Infinity;
    for (const load of this.#loads.values()) {
      if (load.controller !== null || load.notBefore > now) continue;
      for (const { priority } of load.requests) {
        // Negative priorities belong to the viewer, which scrolling neither pauses nor slows.
        if (waits && priority >= 0) continue;
        if (priority < nearest) {
          nearest = priority;
          next = load;
        }
      }
    }
    return next;
  }

  async #start(load) {
    load.controller = new AbortController();
    load.attempts += 1;
    this.#inFlight += 1;
    this.#awaitsFrame = true;
    try {
      const response = await fetch(load.url, { signal: load.controller.signal });
      if (!response.ok) throw await refusal(response);
      this.#finish(load, await response.blob(), response.headers);
    } catch (error) {
      // Aborted loads are removed; a later request starts a new load.
      if (this.#loads.get(load.url) === load) this.#fail(load, error);
    } finally {
      this.#inFlight -= 1;
      this.#pump();
    }
  }

  #finish(load, blob, headers) {
    if (this.#loads.get(load.url) !== load) return;
    const isProvisional = /\bno-cache\b/.test(headers.get("Cache-Control") ?? "");
    const isOutdated = isProvisional && !headers.has("X-Image-Warning");
    this.#loads.delete(load.url);
    this.#counts.fetched += 1;
    if (!isProvisional) this.#cache.store(load.url, blob);
    for (const request of load.requests) {
      Object.assign(request, { isProvisional, isOutdated });
      request.objectURL = isProvisional ? URL.createObjectURL(blob) : this.#cache.acquire(load.url);
      request.onLoad(request.objectURL);
    }
  }

  #fail(load, error) {
    load.controller = null;
    if (error.isTemporary && load.attempts < MOST_BUSY) {
      this.#retryLater(load, error.retryAfter);
    } else if (error instanceof TypeError && load.attempts < MOST_BROKEN) {
      this.#isOffline = true;
      this.onUnreachable();
    } else {
      this.#loads.delete(load.url);
      const reason = error instanceof TypeError ? t("connectionBroke") : error.message;
      for (const request of load.requests) request.onFailure(reason);
    }
  }

  #retryLater(load, retryAfter) {
    const backOff = 0.5 * 2 ** (load.attempts - 1);
    // Random delays spread the retries.
    const seconds = Math.min(60, retryAfter ?? backOff) * (1 + Math.random() * 0.2);
    load.notBefore = performance.now() + seconds * 1000;
    setTimeout(() => this.#pump(), seconds * 1000 + 5);
  }
}

/** A request of one view for one image. */
class ImageRequest {
  #loader;

  constructor(loader, url, priority, onLoad, onFailure) {
    this.#loader = loader;
    this.url = url;
    this.priority = priority;
    this.onLoad = onLoad;
    this.onFailure = onFailure;
    /** The object URL of the loaded image, or null. */
    this.objectURL = null;
    this.wasInMemory = false;
    /** Whether the image is shown but not kept: its file is damaged, or not of the version of the URL. */
    this.isProvisional = false;
    /** Whether the file is not of the version of the URL, as after a change that the page does not know yet. */
    this.isOutdated = false;
  }

  /** Whether the image is loading. */
  get isStarted() {
    return this.#loader.isStarted(this.url);
  }

  /** Cancels the request, or releases the image. */
  release() {
    this.#loader.release(this);
  }
}

// SPDX-License-Identifier: Apache-2.0

import { fetchStatus } from "./library.js";

/** Milliseconds between a change and the next request for changes, so that many changes are shown together. */
const SHORTEST = 100;

/** Calls a function after a change of the library, or after some time. */
export class LibraryWait {
  #onEnd;
  #timer = 0;
  #controller = new AbortController();

  /** @param {() => void} onEnd called once after each `start`, unless `end` was called before */
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  /**
   * Starts to wait; ends the wait before.
   *
   * @param {string | null} generation the shown generation of the library; null to wait for the time only
   * @param {number} time milliseconds to wait, longer if the server waits for a change
   */
  start(generation, time) {
    this.end();
    if (generation === null) {
      this.#timer = setTimeout(this.#onEnd, time);
      return;
    }
    const { signal } = (this.#controller = new AbortController());
    this.#timer = setTimeout(() => this.#follow(generation, time, signal), SHORTEST);
  }

  end() {
    clearTimeout(this.#timer);
    this.#controller.abort(new DOMException("no longer needed", "AbortError"));
  }

  async #follow(generation, time, signal) {
    const end = performance.now() + time;
    let isChanged = false;
    try {
      const status = await fetchStatus(signal, generation);
      isChanged = status !== null && status.generation !== generation;
    } catch {
      // The check that follows reports errors.
    }
    if (signal.aborted) return;
    // A server that does not wait, or cannot be reached, is not requested again at once.
    if (isChanged) this.#onEnd();
    else this.#timer = setTimeout(this.#onEnd, Math.max(0, end - performance.now()));
  }
}

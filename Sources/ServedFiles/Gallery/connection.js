// SPDX-License-Identifier: Apache-2.0

import { t } from "./strings.js";

const LONGEST_WAIT = 15;

/** Repeats requests while the server is unreachable or busy, and shows a message. */
export class Connection {
  #banner;
  #troubles = new Set();

  constructor(banner) {
    this.#banner = banner;
  }

  /**
   * Repeats `work` until it succeeds or fails permanently.
   *
   * @throws errors of `work` that are permanent, and an `AbortError`
   */
  async persist(work, signal) {
    const trouble = {};
    try {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await work();
        } catch (error) {
          const isAway = error instanceof TypeError;
          if (signal.aborted || !(isAway || error.isTemporary)) throw error;
          this.#troubles.add(trouble);
          this.#tell(t(isAway ? "unreachable" : "busy"));
          const backOff = Math.min(LONGEST_WAIT, 2 ** attempt);
          await pause(Math.max(error.retryAfter ?? 0, backOff), signal);
        }
      }
    } finally {
      this.#troubles.delete(trouble);
      if (this.#troubles.size === 0) this.#banner.hidden = true;
    }
  }

  #tell(message) {
    if (this.#banner.hidden || this.#banner.textContent !== message) {
      this.#banner.textContent = message;
      this.#banner.hidden = false;
    }
  }
}

/** Waits some seconds, or until the network is available. */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const timer = setTimeout(finish, seconds * 1000);
    addEventListener("online", finish, { signal: done.signal });
    signal.addEventListener("abort", finish, { signal: done.signal });
    function finish() {
      clearTimeout(timer);
      done.abort();
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
  });
}

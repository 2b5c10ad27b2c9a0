// SPDX-License-Identifier: Apache-2.0

const LONGEST_WAIT = 15;

/** Repeats what fails because the server is away or busy, and says so meanwhile. */
export class Connection {
  #banner;
  #troubles = new Set();

  constructor(banner) {
    this.#banner = banner;
  }

  /**
   * Does `work` until it succeeds or fails for good.
   *
   * @throws what `work` throws when trying again cannot help, and an `AbortError`
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
          this.#tell(
            isAway
              ? "The server cannot be reached. Trying again…"
              : "The server is busy. Trying again…",
          );
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

/** Waits some seconds, or until there is a network again. */
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

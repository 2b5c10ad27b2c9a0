// SPDX-License-Identifier: Apache-2.0

/**
 * Loaded images by URL, up to a number of bytes, with least recently used eviction.
 *
 * An image in use is never evicted. Each keeps one object URL while it is cached, so that
 * the browser reuses its decoded pixels when an image becomes visible again.
 */
export class BlobCache {
  #entries = new Map();
  #byteCount = 0;
  #limit;

  constructor(byteLimit) {
    this.#limit = byteLimit;
  }

  /** The number of images and bytes. */
  get size() {
    return { count: this.#entries.size, byteCount: this.#byteCount };
  }

  has(url) {
    return this.#entries.has(url);
  }

  /** Returns the object URL of an image, to be returned with `release`; null on a miss. */
  acquire(url) {
    const entry = this.#entries.get(url);
    if (entry === undefined) return null;
    entry.uses += 1;
    this.#entries.delete(url);
    this.#entries.set(url, entry);
    return entry.objectURL;
  }

  release(url) {
    const entry = this.#entries.get(url);
    if (entry === undefined) return;
    entry.uses -= 1;
    this.#evict();
  }

  store(url, blob) {
    if (this.#entries.has(url)) return;
    const objectURL = URL.createObjectURL(blob);
    this.#entries.set(url, { objectURL, byteCount: blob.size, uses: 0 });
    this.#byteCount += blob.size;
  }

  #evict() {
    if (this.#byteCount <= this.#limit) return;
    // A Map iterates in insertion order, and `acquire` reinserts: the least recently used is first.
    for (const [url, entry] of this.#entries) {
      if (entry.uses > 0) continue;
      this.#entries.delete(url);
      this.#byteCount -= entry.byteCount;
      URL.revokeObjectURL(entry.objectURL);
      if (this.#byteCount <= this.#limit) return;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

// The fragment of the URL names what is shown: `#/house/trip/` is a folder, `#/house/trip/1.jpg` an
// image in it. All other modules use decoded names; encoding happens only here.

/** Encodes each segment of a path, so that names may contain any character. */
export function encodePath(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Joins a folder's path, empty for the root, and a name inside it. */
export function join(folder, name) {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Returns the fragment of a folder. */
export function folderHash(folder) {
  return folder === "" ? "#/" : `#/${encodePath(folder)}/`;
}

/** Returns the fragment of an image. */
export function imageHash(folder, name) {
  return `#/${encodePath(join(folder, name))}`;
}

/**
 * Reads a fragment.
 *
 * @returns {{folder: string, image: string | null}} the root for other fragments
 */
export function parseHash(hash) {
  let segments;
  try {
    segments = hash.replace(/^#?\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return { folder: "", image: null };
  }
  const image = segments.pop() || null;
  return { folder: segments.filter((segment) => segment !== "").join("/"), image };
}

/** The scroll position of each history entry, which Back restores. */
export class ScrollMemory {
  #positions = new Map();

  constructor() {
    history.scrollRestoration = "manual";
  }

  /** Stores the offset of the entry that is being left. */
  leave(key, offset) {
    this.#positions.set(key, offset);
  }

  /** The key of this entry, and its stored offset. */
  arrive() {
    // A link creates an entry without state; Back and Forward restore the state.
    const key = history.state?.key ?? newKey();
    history.replaceState({ ...history.state, key }, "");
    return { key, offset: this.#positions.get(key) ?? 0 };
  }
}

function newKey() {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
}

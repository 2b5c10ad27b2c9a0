// SPDX-License-Identifier: Apache-2.0

// What is looked at is the URL's fragment: `#/house/trip/` is a folder, `#/house/trip/1.jpg` a
// picture in it. Only names as the server gave them are kept; encoding happens at this border.

/** Encodes each segment of a path, so that names may hold any character. */
export function encodePath(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Joins a folder's path, empty for the root, and a name inside it. */
export function join(folder, name) {
  return folder === "" ? name : `${folder}/${name}`;
}

/** The fragment of a folder. */
export function folderHash(folder) {
  return folder === "" ? "#/" : `#/${encodePath(folder)}/`;
}

/** The fragment of a picture. */
export function pictureHash(folder, name) {
  return `#/${encodePath(join(folder, name))}`;
}

/**
 * Reads a fragment.
 *
 * @returns {{folder: string, picture: string | null}} the root for what is not one of ours
 */
export function parseHash(hash) {
  let segments;
  try {
    segments = hash.replace(/^#?\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return { folder: "", picture: null };
  }
  const picture = segments.pop() || null;
  return { folder: segments.filter((segment) => segment !== "").join("/"), picture };
}

/** Where each entry of the history was scrolled to, so that Back returns to the same place. */
export class ScrollMemory {
  #positions = new Map();

  constructor() {
    history.scrollRestoration = "manual";
  }

  /** Remembers the offset for the entry that is being left. */
  leave(key, offset) {
    this.#positions.set(key, offset);
  }

  /** This entry's key, and its offset when it was here before. */
  arrive() {
    // A followed link makes an entry without state; Back and Forward bring the old state along.
    const key = history.state?.key ?? newKey();
    history.replaceState({ ...history.state, key }, "");
    return { key, offset: this.#positions.get(key) ?? 0 };
  }
}

function newKey() {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
}

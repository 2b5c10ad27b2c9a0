// SPDX-License-Identifier: Apache-2.0

// The fragment of the URL names what is shown: `#/house/trip/` is a folder, `#/house/trip/1.jpg` an
// image in it; `#all` is the timeline, `#all?q=camera` a search, `#all/2024-07-14/house/trip/1.jpg` an
// image in the timeline; `#duplicates` are the images that look alike. All other modules use decoded names; encoding happens only here.

/** The fragment of the images that look alike. */
export const DUPLICATES = "#duplicates";

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

/** Returns the fragment of the timeline, or of the images that a query finds. */
export function timelineHash(query) {
  return `#all${suffix(query)}`;
}

/** Returns the fragment of an image in the timeline; the day locates it. */
export function timelineImageHash(query, date, folder, name) {
  return `#all/${date}/${encodePath(join(folder, name))}${suffix(query)}`;
}

function suffix(query) {
  return query === "" ? "" : `?q=${encodeURIComponent(query)}`;
}

/**
 * Reads a fragment.
 *
 * @returns {Route} the root for other fragments
 *
 * @typedef {object} Route
 * @property {string} view the fragment of what is shown below the viewer
 * @property {boolean} isTimeline
 * @property {string} query of the timeline; empty for all images
 * @property {string | null} date the day of `image` in the timeline
 * @property {string} folder that is shown, or that contains `image` in the timeline
 * @property {string | null} image
 */
export function parseHash(hash) {
  if (hash === DUPLICATES) return { ...parseFolder(""), view: DUPLICATES };
  try {
    return parseTimeline(hash) ?? parseFolder(hash);
  } catch {
    return parseFolder("");
  }
}

function parseTimeline(hash) {
  const parts = /^#all(?:\/(\d{4}-\d\d-\d\d)\/([^?]+))?(?:\?q=(.*))?$/.exec(hash);
  if (parts === null) return null;
  const query = decodeURIComponent(parts[3] ?? "");
  const segments = (parts[2] ?? "").split("/").map(decodeURIComponent);
  const image = segments.pop() || null;
  const place = { date: parts[1] ?? null, folder: segments.join("/"), image };
  return { view: timelineHash(query), isTimeline: true, query, ...place };
}

function parseFolder(hash) {
  const segments = hash.replace(/^#?\/?/, "").split("/").map(decodeURIComponent);
  const image = segments.pop() || null;
  const folder = segments.filter((segment) => segment !== "").join("/");
  return { view: folderHash(folder), isTimeline: false, query: "", date: null, folder, image };
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

// SPDX-License-Identifier: Apache-2.0

import { refusal } from "./api.js";
import { encodePath } from "./routing.js";

// The index of the whole library. All functions throw the errors of `fetchListing`.

/**
 * Fetches the progress of the index; null when the server has none.
 *
 * @param {string | null} since the generation from which the library must differ; the server waits for that
 *   for some time
 * @returns {Promise<{state: "reading" | "complete", found: number, read: number,
 *   secondsLeft: number | null, generation: string, canMark: boolean, canShare: boolean,
 *   isSelection: boolean} | null>}
 */
export async function fetchStatus(signal, since = null) {
  const query = since === null ? "" : `?${new URLSearchParams({ since })}`;
  const { response, value } = await requested(`/-/library/status${query}`, signal);
  if (response.status === 404) {
    await response.text();
    return null;
  }
  if (!response.ok) throw await refusal(response);
  return value();
}

/**
 * Fetches the days of the timeline, newest first, with the number of images of each and the aspect
 * ratios of all images.
 *
 * @param {string} query limits it to the images found; empty for all
 * @param {string | null} since the generation after which days have changed; null for all days
 */
export async function fetchTimeline(query, { since = null, signal } = {}) {
  const requested = performance.now();
  return { ...(await get("timeline", { q: query || null, since }, signal)), requested };
}

/**
 * Fetches the images of the days from `first` back to `last`; null is no limit.
 *
 * @returns {Promise<{generation: string, pictures: object}>} the images in columns
 */
export function fetchImages(query, { first, last, offset, limit }, signal) {
  return get("images", { first, last, offset, limit, q: query || null }, signal);
}

/**
 * Fetches groups of images that look alike.
 *
 * @returns {Promise<{state: "reading" | "complete", found: number, read: number, total: number,
 *   groups: {pictures: object, bytes: number[], equal: number[]}[]}>} images in columns, and for each the
 *   index of the first one with an equal file
 */
export function fetchDuplicates(offset, limit, signal) {
  return get("duplicates", { offset, limit }, signal);
}

/** Fetches completions of a query. */
export async function fetchCompletions(query, signal) {
  return (await get("completions", { q: query }, signal)).completions;
}

/**
 * Requests a URL, unless early-requests.js has done so; each of its responses is used once.
 *
 * @returns {Promise<{response: Response, value: () => Promise<object>}>} the response, and a function that reads it
 */
async function requested(url, signal) {
  const early = globalThis.earlyResponses.get(url);
  if (early === undefined) {
    const response = await fetch(url, { cache: "no-cache", signal });
    return { response, value: () => response.json() };
  }
  globalThis.earlyResponses.delete(url);
  return { response: await early.response, value: () => early.value };
}

async function get(name, parameters, signal) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  const query = new URLSearchParams(given);
  const { response, value } = await requested(`/-/library/${name}?${query}`, signal);
  if (!response.ok) throw await refusal(response);
  return value();
}

/**
 * Returns the URL of the covers of subfolders, ten in a row.
 *
 * @param {object} parameters `offset`, `limit` and `side`, the `revision` of the listing, whose order the
 *   covers have, and the generation `v` of the library
 */
export function coversURL(folder, parameters) {
  const query = new URLSearchParams(parameters);
  return `/-/library/covers/${encodePath(folder)}?${query}`;
}

/** Fetches the marked images of a folder in columns. */
export async function fetchMarks(folder) {
  const response = await fetch(`/-/library/marks/${encodePath(folder)}`, { cache: "no-cache" });
  if (!response.ok) throw await refusal(response);
  return response.json();
}

/** Sets marks of images, such as `{ favourite: true }` or `{ rating: 3 }`. */
export async function mark(images, marks) {
  await post("/-/library/marks", { images, ...marks });
}

/**
 * Returns the URL of an archive.
 *
 * @param {string[]} images paths
 * @param {object} contents of each image `size`, such as `2048x2048` or null for originals, or `sidecars`
 */
export async function requestDownload(images, contents) {
  const response = await post("/-/download", { images, ...contents });
  return (await response.json()).url;
}

/**
 * Returns the path of a link for guests.
 *
 * @param {object} goal `folder` or `images`, paths, and the `days` for which it is valid
 */
export async function requestLink(goal) {
  const response = await post("/-/share", goal);
  return (await response.json()).url;
}

/**
 * Fetches the links of guests, the latest first.
 *
 * @returns {Promise<{id: string, folder: string | null, imageCount: number, created: number, expires: number,
 *   url: string}[]>} times in seconds since 1970
 */
export async function fetchLinks() {
  const response = await fetch("/-/share", { cache: "no-store" });
  if (!response.ok) throw await refusal(response);
  return (await response.json()).links;
}

/** Withdraws a link; one that has been withdrawn already is no error. */
export async function withdrawLink(id) {
  await send("DELETE", `/-/share/${encodeURIComponent(id)}`, undefined, [404]);
}

function post(url, body) {
  return send("POST", url, JSON.stringify(body));
}

async function send(method, url, body, accepted = []) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(url, { method, headers, body });
  if (accepted.includes(response.status)) return response;
  if (!response.ok) throw await refusal(response);
  return response;
}

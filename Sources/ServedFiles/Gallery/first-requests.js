// SPDX-License-Identifier: Apache-2.0

import { fetchImages, fetchStatus, fetchTimeline } from "./library.js";
import { parseHash } from "./routing.js";

// The requests of the first view begin when this module is evaluated, which is the first one that has work to do,
// or have been sent by early-requests.js: the server responds while the other modules are evaluated.

/**
 * The number of newest images whose properties are fetched together with the days; fills any window. As in
 * early-requests.js.
 */
const NEWEST = 250;

// It is too late for early-requests.js.
globalThis.earlyResponses ??= new Map();

/** The progress of the index at the start of the page, of `fetchStatus`. */
export const firstStatus = handled(fetchStatus());

let begun = null;
const { isTimeline, query: firstQuery } = parseHash(location.hash);
if (isTimeline) begun = { query: firstQuery, newest: fetchNewest(firstQuery) };

/**
 * Fetches what the timeline or a search shows first.
 *
 * @returns {{isFirst: boolean, newest: Promise<object | null>, rest: () => Promise<[object, object | null]>}}
 *   whether it is the first view of the page; `fetchImages` for the newest images, null after an error; and a function
 *   for `fetchTimeline` and `fetchStatus`, so that the days of a large library do not delay its first images
 */
export function fetchFirstView(query, signal) {
  const isFirst = begun?.query === query;
  const newest = isFirst ? begun.newest : fetchNewest(query, signal);
  const status = isFirst ? firstStatus : handled(fetchStatus(signal));
  begun = null;
  return { isFirst, newest, rest: () => handled(Promise.all([fetchTimeline(query, { signal }), status])) };
}

function fetchNewest(query, signal) {
  const range = { first: null, last: null, offset: 0, limit: NEWEST };
  // They are requested again where they are needed.
  return fetchImages(query, range, signal).catch(() => null);
}

/** Returns a promise whose error is no event of the page before it is awaited. */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}

// SPDX-License-Identifier: Apache-2.0

import { fetchImages, fetchStatus, fetchTimeline } from "./library.js";
import { parseHash } from "./routing.js";

// The requests of the first view begin when this module is evaluated, which is the first one that has work to do:
// the server responds while the others are evaluated and the page is laid out.

/** The number of newest images whose properties are fetched together with the days; fills any window. */
const NEWEST = 250;

/** The progress of the index at the start of the page, of `fetchStatus`. */
export const firstStatus = handled(fetchStatus());

let begun = null;
const { isTimeline, query: firstQuery } = parseHash(location.hash);
if (isTimeline) begun = { query: firstQuery, requests: request(firstQuery, firstStatus) };

/**
 * Fetches what the timeline or a search shows first.
 *
 * @returns {{isFirst: boolean, newest: Promise<object | null>, answers: Promise<[object, object | null]>}}
 *   whether it is the first view of the page, `fetchImages` for the newest images, null after an error, and
 *   `fetchTimeline` and `fetchStatus`
 */
export function fetchFirstView(query, signal) {
  const isFirst = begun?.query === query;
  const requests = isFirst ? begun.requests : request(query, fetchStatus(signal), signal);
  begun = null;
  return { isFirst, ...requests };
}

function request(query, status, signal) {
  const range = { first: null, last: null, offset: 0, limit: NEWEST };
  // They are requested again where they are needed.
  const newest = fetchImages(query, range, signal).catch(() => null);
  return { newest, answers: handled(Promise.all([fetchTimeline(query, { signal }), status])) };
}

/** Returns a promise whose error is no event of the page before it is awaited. */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}

// SPDX-License-Identifier: Apache-2.0

import { encodePath, join } from "./routing.js";

export const PAGE_LENGTH = 5000;

/** A response whose status is not a success. */
export class RefusedError extends Error {
  constructor(status, message, retryAfter) {
    super(message);
    this.status = status;
    /** The `Retry-After` of the response in seconds, or null. */
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isTemporary() {
    return [429, 502, 503, 504].includes(this.status);
  }
}

/** Returns the URL of an original. */
export function originalURL(folder, name, version) {
  return `/${encodePath(join(folder, name))}?v=${encodeURIComponent(version)}`;
}

/**
 * Returns the URL of a rendition fitted into `side` × `side` pixels; null means the original.
 *
 * Animations play only in the viewer; elsewhere the first frame is requested.
 */
export function renditionURL(folder, name, version, side, { plays = false } = {}) {
  if (side === null) return originalURL(folder, name, version);
  const box = join(folder, `${side}x${side}${plays ? "" : ",still"}`);
  return `/${encodePath(join(box, name))}?v=${encodeURIComponent(version)}`;
}

/**
 * Fetches a page of a folder's listing.
 *
 * @param {string | null} etag the entity tag of the stored page
 * @returns {Promise<{page: object, etag: string | null} | null>} null when it is unchanged
 * @throws {RefusedError} when the server returns an error
 * @throws {TypeError} when it cannot be reached
 */
export async function fetchListing(
  folder, offset, { limit = PAGE_LENGTH, etag = null, signal } = {},
) {
  const path = encodePath(folder);
  const response = await fetch(`/-/listing/${path}?offset=${offset}&limit=${limit}`, {
    headers: etag === null ? {} : { "If-None-Match": etag },
    // A validator of the browser's own cache would turn a 304 response into 200.
    cache: etag === null ? "no-cache" : "no-store",
    signal,
  });
  if (response.status === 304) {
    await response.text();
    return null;
  }
  if (!response.ok) throw await refusal(response);
  return { page: await response.json(), etag: response.headers.get("ETag") };
}

/**
 * Fetches the description of the tiles of an image.
 *
 * @returns {Promise<object | null>} for `TileLayer`; null when the server provides none
 */
export async function fetchPyramid(folder, name, version, signal) {
  const path = `/tiles/${encodePath(join(folder, name))}`;
  const query = `?v=${encodeURIComponent(version)}`;
  let facts;
  try {
    const response = await fetch(`${path}.json${query}`, { signal });
    if (!response.ok) return null;
    facts = await response.json();
  } catch {
    return null;
  }
  const { width, height, tileSize, overlap } = facts;
  if (!(width > 0 && height > 0 && tileSize > 0)) return null;
  const extension = facts.format === "jpeg" ? "jpg" : (facts.format ?? "jpg");
  const tileURL = (level, column, row) =>
    `${path}_files/${level}/${column}_${row}.${extension}${query}`;
  return { width, height, tileSize, overlap: overlap ?? 0, tileURL };
}

/** Fetches the information about an image; null when the server provides none. */
export async function fetchInformation(folder, name, version, signal) {
  const path = encodePath(join(folder, name));
  try {
    const response = await fetch(`/info/${path}?v=${encodeURIComponent(version)}`, { signal });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Returns the reason of an error response. */
export async function refusal(response) {
  let reason = `the server returned ${response.status}`;
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error !== "") reason = error;
  } catch {
    // A page of a proxy or a broken connection: the status is sufficient.
  }
  return new RefusedError(response.status, reason, retryAfter(response));
}

function retryAfter(response) {
  const value = response.headers.get("Retry-After");
  if (value === null) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const wait = (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}

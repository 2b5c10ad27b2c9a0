// SPDX-License-Identifier: Apache-2.0

// Keeps the files of the page, and nothing else, so that an installed page starts without the server.
// The server is asked first, and revalidates each file by its entity tag: after an update, the next load
// has the new files. Stored files are used only while the server cannot be reached.

const CACHE = "calotype-page-1";

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  event.waitUntil(removeOtherCaches().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const isPage = pathname === "/" || pathname.startsWith("/-/gallery/");
  if (origin !== location.origin || event.request.method !== "GET" || !isPage) return;
  event.respondWith(respond(event));
});

async function respond(event) {
  const { request } = event;
  try {
    const response = await fetch(request);
    if (response.ok) event.waitUntil(store(request, response.clone()));
    return response;
  } catch (error) {
    const stored = await caches.match(request, { cacheName: CACHE });
    if (stored === undefined) throw error;
    return stored;
  }
}

/** Stores a response; without space for it, the page works only while the server can be reached. */
async function store(request, response) {
  try {
    const cache = await caches.open(CACHE);
    await cache.put(request, response);
  } catch {
    // The response has been returned.
  }
}

/** Removes caches of earlier versions of this file. */
async function removeOtherCaches() {
  for (const name of await caches.keys()) {
    if (name.startsWith("calotype-page-") && name !== CACHE) await caches.delete(name);
  }
}

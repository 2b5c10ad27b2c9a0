// SPDX-License-Identifier: Apache-2.0

const WORKER = "/-/gallery/service-worker.js";

/**
 * Keeps the files of the page, so that it starts without the server; see `service-worker.js`.
 *
 * Does nothing where the server does not permit the worker to serve the whole page, and on pages without
 * TLS, except those of the same machine.
 */
export async function keepPage() {
  if (!navigator.serviceWorker) return;
  try {
    const response = await fetch(WORKER);
    if (response.headers.get("Service-Worker-Allowed") !== "/") return;
    await navigator.serviceWorker.register(trusted(WORKER), { scope: "/" });
  } catch {
    // The page works without it, but not while the server cannot be reached.
  }
}

/** The policy of the page permits the URLs of scripts that this function returns. */
function trusted(url) {
  if (!globalThis.trustedTypes) return url;
  const createScriptURL = (text) => (text === WORKER ? text : "");
  const policy = trustedTypes.createPolicy("calotype-worker", { createScriptURL });
  return policy.createScriptURL(url);
}

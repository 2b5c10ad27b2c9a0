// SPDX-License-Identifier: Apache-2.0

// A script without imports that runs while the page and its modules are still being loaded, and begins the requests
// of the first view. `requested` in library.js takes their responses, which have been parsed by then. If the modules
// were faster, they have sent the requests.
if (globalThis.earlyResponses === undefined) {
  const newest = location.hash === "#all" ? ["/-/library/images?offset=0&limit=250"] : [];
  globalThis.earlyResponses = new Map();
  for (const url of [...newest, "/-/library/status"]) {
    const response = fetch(url, { cache: "no-cache" });
    const value = response.then((response) => (response.ok ? response.json() : null));
    // An error is one of the page once the value is awaited.
    value.catch(() => {});
    globalThis.earlyResponses.set(url, { response, value });
  }
}

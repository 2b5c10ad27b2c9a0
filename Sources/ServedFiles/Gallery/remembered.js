// SPDX-License-Identifier: Apache-2.0

// Storage throws where the user has forbidden it; a choice then lasts as long as the page.

/** A choice made earlier, on this or another visit; null when it is none of `allowed`. */
export function remembered(key, allowed) {
  try {
    const value = localStorage.getItem(`calotype.${key}`);
    return allowed.includes(value) ? value : null;
  } catch {
    return null;
  }
}

/** Keeps a choice for the next visit. */
export function remember(key, value) {
  try {
    localStorage.setItem(`calotype.${key}`, value);
  } catch {
    // Nothing to do: see above.
  }
}

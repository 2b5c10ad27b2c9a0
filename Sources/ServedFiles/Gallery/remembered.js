// SPDX-License-Identifier: Apache-2.0

// Storage throws if the user has disabled it; choices then last as long as the page.

/** Returns a stored choice; null if it is not in `allowed`. */
export function remembered(key, allowed) {
  try {
    const value = localStorage.getItem(`calotype.${key}`);
    return allowed.includes(value) ? value : null;
  } catch {
    return null;
  }
}

/** Stores a choice for the next visit. */
export function remember(key, value) {
  try {
    localStorage.setItem(`calotype.${key}`, value);
  } catch {
    // See above.
  }
}

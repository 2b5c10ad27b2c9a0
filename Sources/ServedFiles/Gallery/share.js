// SPDX-License-Identifier: Apache-2.0

import { t } from "./strings.js";

/** How long the result is shown, in milliseconds. */
const SHOWN_FOR = 1600;

/**
 * Shares the URL of the page with the menu of the device, or copies it.
 *
 * @param {HTMLElement} button the button that shows the result
 * @param {HTMLElement} announcement a live region
 */
export async function shareAddress(title, button, announcement) {
  const url = location.href;
  // With a mouse, the URL is copied instead.
  if (navigator.share && matchMedia("(pointer: coarse)").matches) {
    try {
      await navigator.share({ title, url });
      return;
    } catch (error) {
      if (error.name === "AbortError") return;
    }
  }
  await copyText(url, button, announcement);
}

/** Copies a text, and shows the result as `shareAddress` does. */
export async function copyText(text, button, announcement) {
  let outcome = t("copied");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers disable the clipboard API on pages without TLS.
    if (!copyByHand(text, button)) outcome = t("copyFails");
  }
  showOutcome(outcome, button, announcement);
}

/** Shows the result of an action beside its button for a time in milliseconds, and announces it. */
export function showOutcome(outcome, button, announcement, duration = SHOWN_FOR) {
  announcement.textContent = outcome;
  button.dataset.outcome = outcome;
  setTimeout(() => delete button.dataset.outcome, duration);
}

/** Copies a selected text, which also works on pages without TLS. */
function copyByHand(text, place) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  place.after(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  place.focus();
  return isCopied;
}

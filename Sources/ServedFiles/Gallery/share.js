// SPDX-License-Identifier: Apache-2.0

/** How long the outcome is to be read, in milliseconds. */
const TOLD_FOR = 1600;

/**
 * Hands the page's address to the device's own menu, or puts it where it can be pasted.
 *
 * @param {HTMLElement} button beside which the outcome is told
 * @param {HTMLElement} announcement a live region
 */
export async function shareAddress(title, button, announcement) {
  const url = location.href;
  let outcome = "Address copied";
  try {
    // Where there is a mouse, pasting is what people expect.
    if (navigator.share && matchMedia("(pointer: coarse)").matches) {
      await navigator.share({ title, url });
      return;
    }
    await navigator.clipboard.writeText(url);
  } catch (error) {
    if (error.name === "AbortError") return;
    // Without TLS browsers keep the clipboard to themselves.
    if (!copyByHand(url, button)) outcome = "Copying is not allowed here";
  }
  announcement.textContent = outcome;
  button.dataset.outcome = outcome;
  setTimeout(() => delete button.dataset.outcome, TOLD_FOR);
}

/** The way of old, through a selected text; the only one on pages without TLS. */
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

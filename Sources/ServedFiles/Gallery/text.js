// SPDX-License-Identifier: Apache-2.0

const numbers = new Intl.NumberFormat("en");
const dates = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });

/** `4,051`. */
export function number(value) {
  return numbers.format(value);
}

/** `1 image`, `4,051 images`. */
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a time in seconds since 1970 in the local time zone. */
export function date(seconds) {
  return dates.format(new Date(seconds * 1000));
}

/** `12.3 MB`. */
export function byteCount(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Returns the last segment of a folder's path. */
export function folderName(folder) {
  return folder === "" ? "Images" : folder.slice(folder.lastIndexOf("/") + 1);
}

/** Creates an element with text, never markup: names may contain any character. */
export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// SPDX-License-Identifier: Apache-2.0

const numbers = new Intl.NumberFormat("en");
const dates = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });

/** `4,051`. */
export function number(value) {
  return numbers.format(value);
}

/** `1 picture`, `4,051 pictures`. */
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The date of a time in seconds since 1970, in the reader's time zone. */
export function date(seconds) {
  return dates.format(new Date(seconds * 1000));
}

/** The last segment of a folder's path. */
export function folderName(folder) {
  return folder === "" ? "Pictures" : folder.slice(folder.lastIndexOf("/") + 1);
}

/** Makes an element with text inside, never markup: names may hold any character. */
export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

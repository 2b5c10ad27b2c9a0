// SPDX-License-Identifier: Apache-2.0

import { language, t } from "./strings.js";

// Made when they are needed: the first one takes 20 ms, before which the first images are shown.
const numbers = once(() => new Intl.NumberFormat(language));
const decimals = once(() => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }));
const dates = once(() => new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" }));
const days = once(() => new Intl.DateTimeFormat(language, {
  weekday: "short", day: "numeric", month: "long", year: "numeric", timeZone: "UTC",
}));
const months = once(() => new Intl.DateTimeFormat(language, { month: "long", year: "numeric" }));
const monthNames = once(() => new Intl.DateTimeFormat(language, { month: "short" }));

/** Returns a function that makes a value in its first call, and returns it in each. */
function once(make) {
  let made = null;
  return () => (made ??= make());
}

/** `4,051`. */
export function number(value) {
  return numbers().format(value);
}

/** `5.6`, rounded to one digit after the decimal separator. */
export function decimal(value) {
  return decimals().format(value);
}

/** `1 image`, `4,051 images`, for a text with a plural. */
export function counted(key, count) {
  return t(key, { count, number: number(count) });
}

/** Formats a time in seconds since 1970 in the local time zone. */
export function date(seconds) {
  return dates().format(new Date(seconds * 1000));
}

/** `March 2024`. */
export function monthText(seconds) {
  return months().format(seconds * 1000);
}

/** `Mar`. */
export function monthName(seconds) {
  return monthNames().format(seconds * 1000);
}

/** Formats a date such as `2024-07-14` with its weekday. */
export function dayText(day) {
  return days().format(Date.parse(`${day}T00:00:00Z`));
}

/** Formats a local time without a time zone, as in EXIF: `2026-09-21T12:00:00`. */
export function localTime(taken) {
  const time = Date.parse(taken.replace(/^(\d{4}):(\d\d):(\d\d) /, "$1-$2-$3T"));
  return Number.isNaN(time) ? taken : date(time / 1000);
}

/** `12.3 MB`. */
export function byteCount(bytes) {
  const units = [t("bytes"), "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${decimal(value >= 100 ? Math.round(value) : value)} ${units[unit]}`;
}

/** Returns the last segment of a folder's path. */
export function folderName(folder) {
  return folder === "" ? t("root") : folder.slice(folder.lastIndexOf("/") + 1);
}

/** Creates an element with text, never markup: names may contain any character. */
export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * Places a child of a container after another one, or first for null.
 *
 * @param {HTMLElement[]} unused children in their order, which are removed where they are in the way:
 *   moving an element that stays would remove its focus
 */
export function placeAfter(previous, child, container, unused) {
  const isNext = (other) =>
    other === (previous === null ? container.firstElementChild : previous.nextElementSibling);
  while (unused.length > 0 && isNext(unused[0])) unused.shift().remove();
  if (isNext(child)) return;
  if (previous === null) container.prepend(child);
  else previous.after(child);
}

// SPDX-License-Identifier: Apache-2.0

import { fetchInformation } from "./api.js";
import { t } from "./strings.js";
import { byteCount, date, decimal, element, localTime, number } from "./text.js";

/** The rows of the panel in this order; missing values are omitted. */
const ROWS = [
  ["taken", ({ taken }) => takenText(taken)],
  ["size", ({ width, height }) => sizeText(width, height)],
  ["file", ({ format, byteCount: bytes }) => fileText(format, bytes)],
  ["changed", ({ modified }) => (modified > 0 ? date(modified) : null)],
  ["camera", ({ camera }) => camera],
  ["lens", ({ lens }) => lens],
  ["exposure", (facts) => exposureText(facts)],
  ["colours", ({ colorProfile }) => colorProfile],
];

/** A panel beside the image with its properties and metadata. */
export class InfoPanel {
  #element;
  #rows;
  #name;
  #button;
  #shown = "";
  #visit = new AbortController();
  #facts = null;

  /** @param {HTMLElement} button opens and closes the panel */
  constructor(element, button) {
    this.#element = element;
    this.#name = element.querySelector("h3");
    this.#rows = element.querySelector("dl");
    this.#button = button;
    button.addEventListener("click", () => this.toggle());
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  toggle() {
    this.#element.hidden = this.isOpen;
    this.#button.setAttribute("aria-expanded", this.isOpen);
    this.#load();
  }

  /** Shows another image, with the properties of its listing. */
  show(folder, facts, version) {
    this.#facts = { folder, facts, version };
    this.#load();
  }

  async #load() {
    if (!this.isOpen || this.#facts === null) return;
    const { folder, facts, version } = this.#facts;
    const key = `${folder}/${facts.name}?${version}`;
    if (key === this.#shown) return;
    this.#shown = key;
    this.#visit.abort();
    this.#visit = new AbortController();
    const { signal } = this.#visit;
    // The properties of the listing are shown first.
    this.#draw(facts);
    const more = await fetchInformation(folder, facts.name, version, signal);
    if (!signal.aborted && more !== null) this.#draw({ ...facts, ...more });
  }

  #draw(facts) {
    this.#name.textContent = facts.name;
    const rows = ROWS.map(([title, describe]) => [title, describe(facts)])
      .filter(([, text]) => typeof text === "string" && text !== "");
    this.#rows.replaceChildren(...rows.map(([title, text]) => {
      const row = element("div");
      row.append(element("dt", "", t(title)), element("dd", "", text));
      return row;
    }));
  }
}

function sizeText(width, height) {
  if (!(width > 0 && height > 0)) return null;
  const megapixels = (width * height) / 1e6;
  const text = decimal(megapixels < 10 ? megapixels : Math.round(megapixels));
  return `${number(width)} × ${number(height)} · ${text} MP`;
}

function fileText(format, bytes) {
  const parts = [format?.toUpperCase?.(), bytes > 0 ? byteCount(bytes) : null];
  return parts.filter(Boolean).join(" · ");
}

function exposureText({ exposure, aperture, iso, focalLength }) {
  const parts = [
    exposure > 0 ? `${seconds(exposure)} s` : null,
    aperture > 0 ? `ƒ/${decimal(aperture)}` : null,
    focalLength > 0 ? `${decimal(focalLength)} mm` : null,
    iso > 0 ? `ISO ${iso}` : null,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Formats an exposure time; short times as a fraction with the numerator 1. */
function seconds(time) {
  return time < 0.3 ? `1/${Math.round(1 / time)}` : decimal(time);
}

function takenText(taken) {
  if (typeof taken === "number") return date(taken);
  return typeof taken === "string" ? localTime(taken) : null;
}

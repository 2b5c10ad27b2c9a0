// SPDX-License-Identifier: Apache-2.0

import { t } from "./strings.js";
import { element, number } from "./text.js";

/** The minimum distance of two marks, in CSS pixels; closer marks are omitted. */
const CLOSEST_MARKS = 22;
/** The same where the scrubber overlaps the images. */
const CLOSEST_OVER_IMAGES = 56;
const isNarrow = matchMedia("(max-width: 600px)");

/** Milliseconds without scrolling after which the handle fades. */
const LINGERS = 1200;

/**
 * A handle at the edge of the window that scrolls to any position, and shows the month or letter
 * of that position.
 */
export class Scrubber {
  #element;
  #handle;
  #label;
  #marks;
  #grid;
  #sections = null;
  #total = 0;
  // The range of the scroll offset, and that of the handle.
  #range = 0;
  #travel = 0;
  #pointer = null;
  #timer = 0;

  /**
   * @param {HTMLElement} element a slider with a handle, a label and a list of marks
   * @param {VirtualGrid} grid the grid that is scrolled
   */
  constructor(element, grid) {
    this.#element = element;
    [this.#marks, this.#handle, this.#label] = element.children;
    this.#grid = grid;
    grid.onLayout = () => this.#laidOut();
    grid.onScroll = () => this.#scrolled();
    const sizes = new ResizeObserver(() => this.#laidOut());
    for (const other of [element.parentElement, element]) sizes.observe(other);
    element.addEventListener("pointerdown", (event) => this.#grabbed(event));
    element.addEventListener("pointermove", (event) => this.#pointed(event));
    element.addEventListener("pointerleave", () => this.#follow());
    for (const type of ["pointerup", "pointercancel"]) {
      element.addEventListener(type, () => this.#released());
    }
    element.addEventListener("keydown", (event) => this.#pressed(event));
    element.addEventListener("focus", () => this.#follow());
  }

  /** Sets the sections of the listing that the grid shows. */
  show(sections, total) {
    this.#sections = sections;
    this.#total = total;
    this.#laidOut();
  }

  clear() {
    this.#sections = null;
    this.#element.hidden = true;
  }

  #laidOut() {
    if (this.#sections === null) return;
    // Read here because reading during scrolling would cause a second layout per frame.
    this.#range = document.documentElement.scrollHeight - innerHeight;
    // A page of at most one and a half screens needs no scrubber.
    const isNeeded = this.#total > 0 && this.#range >= innerHeight / 2;
    this.#element.hidden = !isNeeded;
    if (this.#element.hidden) return;
    this.#travel = this.#element.clientHeight - this.#handle.offsetHeight;
    this.#showMarks();
    this.#follow();
  }

  #showMarks() {
    const [range, travel] = [this.#range, this.#travel];
    const closest = isNarrow.matches ? CLOSEST_OVER_IMAGES : CLOSEST_MARKS;
    const places = [];
    const starts = this.#sections.starts();
    // Years first; their months where there is space.
    for (const isMinor of [false, true]) {
      for (const start of starts) {
        if (Boolean(start.isMinor) !== isMinor) continue;
        const offset = Math.min(range, this.#grid.scrollOffsetOf(start.index));
        const place = Math.round((offset / range) * travel);
        // Ordered by place, so that only the neighbours are compared.
        const next = places.findIndex((other) => other.place > place);
        const end = next < 0 ? places.length : next;
        const isFree = (other) => other === undefined || Math.abs(other.place - place) >= closest;
        if (!isFree(places[end - 1]) || !isFree(places[end])) continue;
        places.splice(end, 0, { place, label: start.label, isMinor });
      }
    }
    this.#marks.replaceChildren(...places.map(({ place, label, isMinor: isMonth }) => {
      const mark = element("span", isMonth ? "minor" : "", label);
      mark.style.top = `${place}px`;
      return mark;
    }));
  }

  #scrolled() {
    if (this.#element.hidden) return;
    if (!this.#element.classList.contains("scrolling")) this.#element.classList.add("scrolling");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#element.classList.remove("scrolling");
      this.#follow();
    }, LINGERS);
    if (this.#pointer === null) this.#follow();
  }

  /** Moves handle and label to the current position. */
  #follow() {
    const ratio = Math.max(0, Math.min(1, scrollY / Math.max(1, this.#range)));
    const index = this.#draw(ratio, ratio);
    const element = this.#element;
    // Not in every frame: assistive technology cannot announce it faster.
    if (element.classList.contains("scrolling") && document.activeElement !== element) return;
    element.ariaValueMax = this.#total;
    element.ariaValueNow = index + 1;
    element.ariaValueText =
      t("position", {
        label: this.#label.textContent, index: number(index + 1), total: number(this.#total),
      });
  }

  /** Draws the handle at one position and the label at another; returns the image of the label. */
  #draw(handleRatio, labelRatio) {
    const index = Math.max(0, this.#grid.indexAtScroll(labelRatio * this.#range));
    const text = this.#sections?.label(index) ?? "";
    if (this.#label.textContent !== text) this.#label.textContent = text;
    this.#handle.style.transform = `translateY(${Math.round(handleRatio * this.#travel)}px)`;
    this.#label.style.transform = `translateY(${Math.round(labelRatio * this.#travel)}px)`;
    return index;
  }

  #ratioAt(event) {
    const { top } = this.#element.getBoundingClientRect();
    const half = this.#handle.offsetHeight / 2;
    return Math.max(0, Math.min(1, (event.clientY - top - half) / this.#travel));
  }

  #grabbed(event) {
    if (event.button !== 0) return;
    this.#pointer = event.pointerId;
    this.#element.setPointerCapture(event.pointerId);
    this.#element.classList.add("dragged");
    event.preventDefault();
    this.#pointed(event);
  }

  #pointed(event) {
    const ratio = this.#ratioAt(event);
    const isDragged = this.#pointer === event.pointerId;
    if (isDragged) scrollTo({ top: Math.round(ratio * this.#range), behavior: "instant" });
    this.#draw(isDragged ? ratio : scrollY / Math.max(1, this.#range), ratio);
  }

  #released() {
    this.#pointer = null;
    this.#element.classList.remove("dragged");
    this.#follow();
  }

  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = this.#target(event.key);
    if (target === null) return;
    event.preventDefault();
    event.stopPropagation();
    scrollTo({ top: Math.max(0, Math.min(this.#range, target)), behavior: "instant" });
    this.#follow();
  }

  /** Arrow keys move by a screen, Page Up and Page Down by a section. */
  #target(key) {
    switch (key) {
      case "ArrowUp":
      case "ArrowLeft":
        return scrollY - innerHeight * 0.8;
      case "ArrowDown":
      case "ArrowRight":
        return scrollY + innerHeight * 0.8;
      case "PageUp":
        return this.#start((offset) => offset < scrollY - 1, "findLast") ?? 0;
      case "PageDown":
        return this.#start((offset) => offset > scrollY + 1, "find") ?? this.#range;
      case "Home":
        return 0;
      case "End":
        return this.#range;
      default:
        return null;
    }
  }

  #start(isWanted, find) {
    const offsets = this.#sections.starts().map(({ index }) => this.#grid.scrollOffsetOf(index));
    return offsets[find](isWanted);
  }
}

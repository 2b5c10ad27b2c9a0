// SPDX-License-Identifier: Apache-2.0

/** Milliseconds until a press of a finger selects. */
const LONG_PRESS = 450;

/** The distance, in CSS pixels, of a movement that is not a press. */
const SLACK = 10;

/** The distance from the edge of the window at which dragging scrolls, and the step of a frame. */
const EDGE = 70;
const SCROLL_STEP = 18;

/** Selects images of the grid by pointer and keyboard. */
export class SelectionGestures {
  #grid;
  #element;
  #selection;
  #drag = null;
  #press = null;
  #skipsClick = false;

  /** @param {HTMLElement} element contains the tiles */
  constructor(element, grid, selection) {
    this.#element = element;
    this.#grid = grid;
    this.#selection = selection;
    const listen = (type, handler, options) => element.addEventListener(type, handler, options);
    listen("click", (event) => this.#clicked(event), { capture: true });
    listen("pointerdown", (event) => this.#pressed(event));
    listen("pointermove", (event) => this.#moved(event));
    for (const type of ["pointerup", "pointercancel"]) listen(type, () => this.#released());
    // Without it, the finger that selects would scroll the page.
    listen("touchmove", (event) => this.#drag !== null && event.preventDefault(), { passive: false });
    listen("contextmenu", (event) => {
      if (this.#drag !== null || this.#press !== null) event.preventDefault();
    });
    listen("keydown", (event) => this.#key(event), { capture: true });
    document.addEventListener("keydown", (event) => this.#pageKey(event));
  }

  #clicked(event) {
    if (this.#skipsClick) {
      this.#skipsClick = false;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const index = this.#indexOf(event.target);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const isCheck = event.target.closest(".check") !== null;
    if (!isCheck && this.#selection.size === 0 && !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    // With the keyboard, a click of a check mark has no pointer and therefore no drag.
    if (event.shiftKey) this.#selection.extendTo(index);
    else this.#selection.toggle(index);
  }

  #pressed(event) {
    const index = this.#indexOf(event.target);
    if (index < 0 || !event.isPrimary || event.button !== 0) return;
    this.#skipsClick = false;
    if (event.pointerType === "touch") {
      const { clientX, clientY } = event;
      const timer = setTimeout(() => this.#startDrag(event, index), LONG_PRESS);
      this.#press = { clientX, clientY, timer };
    } else if (event.target.closest(".check") !== null && !event.shiftKey) {
      this.#startDrag(event, index);
    }
  }

  #startDrag({ pointerId, clientX, clientY }, index) {
    this.#press = null;
    this.#drag = { last: index, clientX, clientY, frame: 0 };
    this.#skipsClick = true;
    this.#element.setPointerCapture(pointerId);
    navigator.vibrate?.(10);
    this.#selection.toggle(index);
  }

  #moved(event) {
    if (this.#press !== null) {
      const { clientX, clientY } = this.#press;
      if (Math.hypot(event.clientX - clientX, event.clientY - clientY) > SLACK) this.#released();
    }
    if (this.#drag === null) return;
    this.#drag.clientX = event.clientX;
    this.#drag.clientY = event.clientY;
    this.#extend();
    this.#drag.frame ||= requestAnimationFrame(() => this.#scroll());
  }

  /** Scrolls while the pointer is at the edge of the window. */
  #scroll() {
    if (this.#drag === null) return;
    const { clientY } = this.#drag;
    const step = clientY < EDGE ? -SCROLL_STEP : clientY > innerHeight - EDGE ? SCROLL_STEP : 0;
    this.#drag.frame = step === 0 ? 0 : requestAnimationFrame(() => this.#scroll());
    if (step === 0) return;
    scrollBy({ top: step, behavior: "instant" });
    this.#extend();
  }

  #extend() {
    const { clientX, clientY, last } = this.#drag;
    const index = this.#grid.imageAt(clientX, clientY);
    if (index < 0 || index === last) return;
    this.#drag.last = index;
    this.#selection.extendTo(index);
  }

  #released() {
    clearTimeout(this.#press?.timer);
    cancelAnimationFrame(this.#drag?.frame);
    this.#press = null;
    this.#drag = null;
  }

  #indexOf(target) {
    return this.#grid.tileAt(target)?.index ?? -1;
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // The check mark of a day is a button of its own.
    if (this.#indexOf(event.target) < 0) return;
    const { active } = this.#grid;
    if (event.key === " " && !event.shiftKey) {
      this.#selection.toggle(active);
    } else if (event.shiftKey) {
      const target = this.#grid.keyTarget(event.key);
      if (target === null) return;
      if (this.#selection.size === 0) this.#selection.startAt(active);
      this.#selection.extendTo(target);
      this.#grid.focus(target);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #pageKey(event) {
    const isElsewhere = event.target.closest?.("input, textarea, select, dialog") !== null;
    if (isElsewhere || this.#grid.listing === null) return;
    if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
      this.#selection.setRange(0, this.#grid.listing.count, true);
    } else if (event.key === "Escape" && this.#selection.size > 0) {
      this.#selection.clear();
    } else {
      return;
    }
    event.preventDefault();
  }
}

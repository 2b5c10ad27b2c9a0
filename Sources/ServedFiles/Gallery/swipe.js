// SPDX-License-Identifier: Apache-2.0

const FAR_ENOUGH = 60;
const FAST_ENOUGH = 0.4; // px per ms

/**
 * Detects swipes on `surface` and moves `content` with the finger.
 *
 * @param {() => boolean} isIdle returns whether swipes are disabled
 * @param {{left: () => void, right: () => void, down: () => void}} actions
 */
export function followSwipes(surface, content, isIdle, actions) {
  let start = null;

  surface.addEventListener("pointerdown", (event) => {
    // A second finger zooms.
    if (event.pointerType !== "touch" || isIdle() || !event.isPrimary) {
      end(0, 0);
      return;
    }
    start = { id: event.pointerId, x: event.clientX, y: event.clientY, time: event.timeStamp };
    surface.setPointerCapture(event.pointerId);
    content.classList.add("dragged");
  });

  surface.addEventListener("pointermove", (event) => {
    if (start?.id !== event.pointerId) return;
    const [x, y] = moved(event);
    content.style.transform = Math.abs(x) >= y ? `translateX(${x}px)` : `translateY(${y}px)`;
  });

  surface.addEventListener("pointerup", (event) => {
    if (start?.id !== event.pointerId) return;
    const [x, y] = moved(event);
    end(x, y, event.timeStamp - start.time);
  });
  surface.addEventListener("pointercancel", () => end(0, 0));

  function moved(event) {
    return [event.clientX - start.x, Math.max(0, event.clientY - start.y)];
  }

  function end(x, y, time = Infinity) {
    if (start === null) return;
    start = null;
    content.classList.remove("dragged");
    content.style.transform = "";
    const isFlick = (distance) => distance > 20 && distance / time > FAST_ENOUGH;
    const counts = (distance) => distance > FAR_ENOUGH || isFlick(distance);
    if (Math.abs(x) >= y) {
      if (counts(-x)) actions.left();
      else if (counts(x)) actions.right();
    } else if (counts(y)) {
      actions.down();
    }
  }
}

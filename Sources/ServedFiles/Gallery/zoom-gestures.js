// SPDX-License-Identifier: Apache-2.0

// A wheel step is about 100 units, a trackpad pinch a few per event.
const WHEEL = 0.0022;
const TRACKPAD = 0.011;

const DOUBLE_TAP_TIME = 320;
const DOUBLE_TAP_DISTANCE = 30;
const LONGEST_PAUSE = 60;

/** Connects wheel, touch and mouse events to a `Zoom`. */
export function followZoomGestures(surface, zoom) {
  const pointers = new Map();
  let lastTap = { time: -Infinity, x: 0, y: 0 };
  let speed = { x: 0, y: 0, time: 0 };
  let travelled = 0;

  surface.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    const rate = event.ctrlKey ? TRACKPAD : WHEEL;
    zoom.zoomAt(Math.exp(-event.deltaY * unit * rate), event.clientX, event.clientY);
  }, { passive: false });

  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (pointers.size === 0) travelled = 0;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    speed = { x: 0, y: 0, time: event.timeStamp };
    if (zoom.isZoomed || pointers.size > 1) surface.setPointerCapture(event.pointerId);
  });

  surface.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    const [x, y] = [now.x - before.x, now.y - before.y];
    travelled += Math.hypot(x, y);
    const other = otherPointer(event.pointerId);
    pointers.set(event.pointerId, now);
    if (other !== null) {
      // Each finger moves the centre by half of its distance.
      const growth = distance(now, other) / Math.max(1, distance(before, other));
      zoom.pan(x / 2, y / 2);
      zoom.zoomAt(growth, (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (zoom.isZoomed) {
      zoom.pan(x, y);
      const time = Math.max(1, event.timeStamp - speed.time);
      const blend = (old, moved) => 0.6 * old + 0.4 * (moved / time);
      speed = { x: blend(speed.x, x), y: blend(speed.y, y), time: event.timeStamp };
    }
  });

  surface.addEventListener("pointerup", (event) => {
    const wasAlone = pointers.size === 1;
    if (!pointers.delete(event.pointerId) || !wasAlone) return;
    if (travelled < 8) tapped(event);
    else if (zoom.isZoomed && event.timeStamp - speed.time < LONGEST_PAUSE) {
      zoom.glide(speed.x, speed.y);
    }
  });
  surface.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));

  // Not `dblclick`, which touch does not cause in every browser.
  function tapped({ timeStamp, clientX, clientY }) {
    const isNear = distance(lastTap, { x: clientX, y: clientY }) < DOUBLE_TAP_DISTANCE;
    const isDouble = isNear && timeStamp - lastTap.time < DOUBLE_TAP_TIME;
    lastTap = { time: isDouble ? -Infinity : timeStamp, x: clientX, y: clientY };
    if (isDouble) zoom.toggle(clientX, clientY);
  }

  function otherPointer(id) {
    for (const [otherId, place] of pointers) if (otherId !== id) return place;
    return null;
  }
}

function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

// SPDX-License-Identifier: Apache-2.0

// Evaluated in the page: tests the modules without side effects. Returns [name, passed, detail].
async () => {
  /** Returns the number of accesses to elements of the typed arrays that `work` makes. */
  const accesses = (work) => {
    const { Float64Array, Int32Array } = globalThis;
    let count = 0;
    const handler = {
      get: (array, key) => {
        count += 1;
        return array[key];
      },
      set: (array, key, value) => {
        count += 1;
        array[key] = value;
        return true;
      },
    };
    const counting = (type) => function (length) {
      return new Proxy(new type(length), handler);
    };
    globalThis.Float64Array = counting(Float64Array);
    globalThis.Int32Array = counting(Int32Array);
    try {
      work();
    } finally {
      Object.assign(globalThis, { Float64Array, Int32Array });
    }
    return count;
  };

  const { justifiedRows, rowAt } = await import("/-/gallery/layout.js");
  const { ladderStep } = await import("/-/gallery/ladder.js");
  const { ScrollSpace } = await import("/-/gallery/scroll-space.js");
  const results = [];
  const check = (name, passed, detail = "") => {
    results.push([name, Boolean(passed), String(detail)]);
  };

  // A linear congruential generator: the same images in every run.
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const ordinary = [4 / 3, 3 / 2, 2 / 3, 3 / 4, 1, 16 / 9];
  const aspect = () => ordinary[Math.floor(random() * ordinary.length)];
  const images = (count) => Float64Array.from({ length: count }, aspect);

  const cases = [[1408, 204, 6], [340, 118, 3], [1001, 333, 7], [64, 200, 6]];
  for (const [width, rowHeight, gap] of cases) {
    const aspects = images(2000);
    const layout = justifiedRows(aspects, width, rowHeight, gap);
    const { x, y, w, h, rowStart, rowCount } = layout;
    const shown = aspects.map((aspect) => Math.min(aspect, layout.maxAspect));
    let unfilled = 0;
    let distorted = 0;
    let misplaced = 0;
    for (let row = 0; row < rowCount; row += 1) {
      const [start, end] = [rowStart[row], rowStart[row + 1]];
      const right = x[end - 1] + w[end - 1];
      if (row < rowCount - 1 ? right !== width : right > width) unfilled += 1;
      let sum = 0;
      for (let i = start; i < end; i += 1) sum += shown[i];
      const exact = row < rowCount - 1 ? (width - gap * (end - start - 1)) / sum : h[start];
      for (let i = start; i < end; i += 1) {
        if (Math.abs(h[i] - exact) > 1 || Math.abs(w[i] - exact * shown[i]) > 1) distorted += 1;
        if (i > start && (y[i] !== y[start] || x[i] !== x[i - 1] + w[i - 1] + gap)) misplaced += 1;
      }
      if (row > 0 && y[start] !== y[start - 1] + h[start - 1] + gap) misplaced += 1;
    }
    const of = `at ${width} px, rows of ${rowHeight} px`;
    check(`layout: rows fill the width exactly ${of}`, unfilled === 0, `${unfilled} do not`);
    check(`layout: aspect ratios are kept within a pixel ${of}`, distorted === 0, `${distorted} are not`);
    check(`layout: gaps are kept ${of}`, misplaced === 0, `${misplaced} are not`);
  }

  const extreme = justifiedRows([50, 0.01, 1, NaN, 0, Infinity], 1000, 200, 6);
  const tallest = Math.max(...extreme.h);
  const lowest = Math.min(...extreme.h);
  const within = extreme.x.every((left, i) => left >= 0 && left + extreme.w[i] <= 1000);
  check("layout: extreme aspect ratios are clamped", lowest >= 90 && tallest <= 500 && within,
    `heights ${lowest} to ${tallest}`);

  const lone = justifiedRows([1.5], 1000, 200, 6);
  check("layout: the last row is not stretched", lone.w[0] === 300 && lone.h[0] === 200);
  const none = justifiedRows([], 1000, 200, 6);
  check("layout: no images need no height", none.height === 0 && none.rowCount === 0);

  const many = images(100000);
  const [short, long] = [1000, 10000].map((count) => accesses(() => {
    justifiedRows(many.slice(0, count), 1408, 204, 6);
  }));
  check("layout: ten times the images need ten times the work", short > 5000 && long <= 10.5 * short,
    `${short} and ${long} accesses to elements`);

  const large = justifiedRows(many, 1408, 204, 6);
  const found = [0, 1, 777, large.rowCount - 1].every((row) => {
    const top = large.y[large.rowStart[row]];
    return rowAt(large, top) === row && (row === 0 || rowAt(large, top - 1) === row - 1);
  });
  check("layout: the row at an offset is found", found && rowAt(large, 1e9) === large.rowCount - 1);

  const ladder = [64, 128, 256];
  const steps = [1, 64, 64.005, 65, 256, 257].map((side) => ladderStep(ladder, side));
  check("ladder: the smallest step that covers a side", `${steps}` === "64,64,64,128,256,", steps);

  const space = new ScrollSpace(20_000_000, 900);
  const offsets = [-50, 0, 12_345, 9_999_999, 19_999_100, 19_999_200];
  const returns = offsets.every((o) => Math.abs(space.toContent(space.toElement(o)) - o) < 1e-3);
  check("scrolling: offsets of very tall content are mapped in both directions", returns);
  check("scrolling: the end of the element is the end of the content",
    space.elementHeight === 8_000_000 && space.toContent(8_000_000 - 900) === 20_000_000 - 900);
  const isNear = (one, other) => Math.abs(one - other) < 1;
  const top = space.follow(4_000_000);
  const wheel = [100, 200, 150].map((step) => space.follow(4_000_000 + step) - top);
  check("scrolling: a wheel step moves very tall content by the same distance",
    isNear(top, space.toContent(4_000_000)) && `${wheel}` === "100,200,150", wheel);
  const pinned = space.pin(top + 150);
  check("scrolling: at rest the scroll position is synchronized with the content",
    isNear(space.toElement(top + 150), pinned) && !space.isOff
      && space.follow(pinned) === top + 150);
  check("scrolling: a jump is proportional",
    isNear(space.follow(1_000_000), space.toContent(1_000_000)));
  check("scrolling: both ends are reached",
    space.follow(8_000_000 - 900) === 20_000_000 - 900 && space.follow(0) === 0);
  return results;
}

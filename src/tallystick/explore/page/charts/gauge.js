// How far a condition is from holding: a line with its aim in the middle. The words beside it say the same.

import { draw } from "../dom.js";

const WIDTH = 120,
  HEIGHT = 16,
  MIDDLE = WIDTH / 2,
  FINEST = 0.001,
  FARTHEST = 2;

/** Distances over three orders of magnitude, either sign, on one line. */
function place(distance) {
  const share = Math.asinh(distance / FINEST) / Math.asinh(FARTHEST / FINEST);
  return MIDDLE + Math.max(-1, Math.min(1, share)) * (MIDDLE - 5);
}

export function gauge(distance) {
  const y = HEIGHT / 2;
  return draw(
    "svg",
    { class: "gauge", width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
    draw("line", { class: "track", x1: 2, x2: WIDTH - 2, y1: y, y2: y }),
    draw("line", { class: "aim", x1: MIDDLE, x2: MIDDLE, y1: 2, y2: HEIGHT - 2 }),
    draw("circle", { class: distance === 0 ? "dot good" : "dot bad", cx: place(distance), cy: y, r: 4 }),
  );
}

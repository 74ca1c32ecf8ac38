// The part of the plane (a/b, U) that is looked at; an address without one means the run's own.

import { state } from "../state.js";

export const WINDOW_KEYS = ["x0", "x1", "y0", "y1"];

/** Around the exact counter, as in the lower row of the report's figure. */
export const NEAR = { x0: -1.03, x1: -0.52, y0: 0.905, y1: 1.085 };

let home = { x0: -1.12, x1: 0, y0: 0.52, y1: 1.78 };
const LEAST = 1e-10,
  MOST = 1e6;

export function setHome(found) {
  if (found && WINDOW_KEYS.every((key) => Number.isFinite(found[key]))) home = found;
}

export function presentWindow() {
  const found = Object.fromEntries(WINDOW_KEYS.map((key) => [key, Number(state[key])]));
  const given = WINDOW_KEYS.every((key) => state[key] !== "" && Number.isFinite(found[key]));
  return given && found.x0 < found.x1 && found.y0 < found.y1 ? found : home;
}

export function windowState(window) {
  return Object.fromEntries(WINDOW_KEYS.map((key) => [key, String(Number(window[key].toPrecision(12)))]));
}

/** The window made smaller (factor below 1) or larger around a place, within what numbers allow. */
export function zoomed({ x0, x1, y0, y1 }, factor, x = (x0 + x1) / 2, y = (y0 + y1) / 2) {
  const around = (low, high, place) => [place - (place - low) * factor, place + (high - place) * factor];
  const [[a, b], [c, d]] = [around(x0, x1, x), around(y0, y1, y)];
  const fine = [b - a, d - c].every((size) => size > LEAST && size < MOST);
  return fine ? { x0: a, x1: b, y0: c, y1: d } : { x0, x1, y0, y1 };
}

/** The window moved by shares of its size. */
export function moved({ x0, x1, y0, y1 }, right, up) {
  const dx = (x1 - x0) * right,
    dy = (y1 - y0) * up;
  return { x0: x0 + dx, x1: x1 + dx, y0: y0 + dy, y1: y1 + dy };
}

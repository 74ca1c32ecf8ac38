// The layers of the plane, each drawn from data alone.

import { ticks } from "../charts/scales.js";
import { shown } from "../numbers.js";
import { colour } from "../theme.js";

const JUMP = 8; // a/b leaps where b changes its sign; the line breaks there

/** The colours of the canvas, asked for once and again when they change. */
export function palette() {
  const names = [
    "ink",
    "soft",
    "paper",
    "line",
    "edge",
    "accent",
    "bad",
    "region",
    "length-2",
    "length-4",
    "length-8",
    "length-other",
  ];
  return Object.fromEntries(names.map((name) => [name, colour(name)]));
}

const lengthColour = (length, colours) => colours[`length-${length}`] ?? colours["length-other"];

export function paintRegions(context, { x, y }, regions, colours) {
  context.fillStyle = colours.region;
  context.globalAlpha = 0.13; // they lie one in another, so the smallest is the darkest
  for (const { polygons } of regions) {
    context.beginPath();
    for (const polygon of polygons) outline(context, polygon, x, y);
    context.fill();
  }
  context.globalAlpha = 1;
}

/** The borders and names once more, above the cells, which would hide them. */
export function paintBorders(context, { x, y, left, right, top, bottom }, regions, colours) {
  Object.assign(context, { strokeStyle: colours.region, lineWidth: 1, globalAlpha: 0.7 });
  for (const { polygons } of regions) {
    context.beginPath();
    for (const polygon of polygons) outline(context, polygon, x, y);
    context.stroke();
  }
  Object.assign(context, {
    globalAlpha: 1,
    lineWidth: 3,
    strokeStyle: colours.paper,
    fillStyle: colours.ink,
    font: "italic 13px serif",
    textAlign: "center",
  });
  let free = null; // the tips of the smallest regions come so close that their names would touch
  for (const { length, polygons } of regions) {
    const [px, py] = lowest(polygons, x, y);
    const inside = px > left + 12 && px < right - 12 && py > top && py < bottom - 18;
    if (!inside || (free && Math.hypot(px - free[0], py - free[1]) < 26)) continue;
    context.strokeText(`R${subscript(length)}`, px, py + 15);
    context.fillText(`R${subscript(length)}`, px, py + 15);
    free = [px, py];
  }
}

function outline(context, polygon, x, y) {
  polygon.forEach(([px, py], place) => (place ? context.lineTo(x(px), y(py)) : context.moveTo(x(px), y(py))));
  context.closePath();
}

function lowest(polygons, x, y) {
  const point = polygons.flat().reduce((found, each) => (!found || each[1] < found[1] ? each : found), null);
  return point ? [x(point[0]), y(point[1])] : [NaN, NaN];
}

const subscript = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");

export function paintCells(context, area, cells, colours) {
  if (!cells) return;
  if (cells.kind === "bins") paintBins(context, area, cells, colours);
  else paintPoints(context, area, cells.points, colours);
}

/** The density as an image, made once and stretched to wherever its window now lies: moving needs no new answer. */
function paintBins(context, { x, y }, cells, colours) {
  cells.image = cells.tint === colours.accent ? cells.image : densityImage(cells, colours.accent);
  cells.tint = colours.accent;
  const { window } = cells;
  const [px, py] = [x(window.x0), y(window.y1)];
  context.imageSmoothingEnabled = false;
  context.drawImage(cells.image, px, py, x(window.x1) - px, y(window.y0) - py);
}

function densityImage({ counts, nx, ny }, tint) {
  const image = new ImageData(nx, ny);
  const [red, green, blue] = tint.match(/[\d.]+/g).map(Number);
  const most = Math.log1p(Math.max(1, ...counts.map((row) => Math.max(...row))));
  counts.forEach((row, up) =>
    row.forEach((count, across) => {
      if (!count) return;
      const place = 4 * ((ny - 1 - up) * nx + across);
      image.data.set([red, green, blue, 70 + 185 * (Math.log1p(count) / most)], place);
    }),
  );
  const canvas = new OffscreenCanvas(nx, ny);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function paintPoints(context, { x, y, axes: [across, up] }, points, colours) {
  const size = points.length > 1500 ? 1.6 : 2.6;
  context.globalAlpha = points.length > 1500 ? 0.6 : 0.8;
  for (const { values, length } of points) {
    context.fillStyle = lengthColour(length, colours);
    context.beginPath();
    context.arc(x(values[across.name]), y(values[up.name]), size, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
}

/** Training paths up to an epoch: an open ring where a seed starts, a dot where it is. */
export function paintPaths(context, { x, y }, found, colours) {
  if (!found) return;
  for (const { values, length } of found.paths) {
    const { ab_ratio: ratio, recurrent_weight: U } = values;
    const last = Math.min(found.epoch, ratio.length - 1);
    context.strokeStyle = context.fillStyle = lengthColour(length, colours);
    context.lineWidth = 1;
    context.globalAlpha = 0.75;
    context.beginPath();
    for (let place = 0; place <= last; place += 1) {
      if (ratio[place] === null || U[place] === null) continue;
      const leaps = place === 0 || ratio[place - 1] === null || Math.abs(ratio[place] - ratio[place - 1]) > JUMP;
      context[leaps ? "moveTo" : "lineTo"](x(ratio[place]), y(U[place]));
    }
    context.stroke();
    context.globalAlpha = 1;
    circle(context, x(ratio[0]), y(U[0]), 2.6, false);
    circle(context, x(ratio[last]), y(U[last]), 3, true);
  }
}

function circle(context, x, y, size, full) {
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  if (full) context.fill();
  else context.stroke();
}

/** The exact counter, (−1, 1); cells with several units have none that is a point. */
export function paintCounter(context, { x, y, counter }, colours) {
  if (!counter) return;
  const [px, py] = [x(counter[0]), y(counter[1])];
  context.strokeStyle = colours.ink;
  context.lineWidth = 1.6;
  context.beginPath();
  context.moveTo(px - 8, py);
  context.lineTo(px + 8, py);
  context.moveTo(px, py - 8);
  context.lineTo(px, py + 8);
  context.stroke();
}

export function paintRing(context, { x, y, axes: [across, up] }, point, colours) {
  if (!point) return;
  context.strokeStyle = colours.bad;
  context.lineWidth = 2;
  circle(context, x(point.values[across.name]), y(point.values[up.name]), 7, false);
}

export function paintAxes(context, { x, y, left, right, top, bottom, width, axes: [across, up] }, window, colours) {
  context.strokeStyle = colours.edge;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  context.fillStyle = colours.soft;
  context.font = "11.5px system-ui, sans-serif";
  context.textAlign = "center";
  for (const value of ticks(window.x0, window.x1, Math.max(2, width / 110)))
    context.fillText(shown(value, 8), x(value), bottom + 16);
  context.textAlign = "right";
  for (const value of ticks(window.y0, window.y1, 6)) context.fillText(shown(value, 8), left - 6, y(value) + 4);
  context.font = "italic 14px serif";
  context.fillStyle = colours.ink;
  context.fillText(across.title, right, bottom + 33);
  if (up.title.length > 2) context.textAlign = "left"; // a word would begin outside of the picture
  context.fillText(up.title, left - 6, top - 10);
}

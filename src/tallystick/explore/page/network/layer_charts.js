// Pictures of a layer along a string: one line per unit, and each gate as a band with one row per unit.

import { axisBelow, axisBeside, pathThrough } from "../charts/frame.js";
import { linear, span, ticks, wholeTicks } from "../charts/scales.js";
import { draw } from "../dom.js";
import { shown } from "../numbers.js";
import { colour } from "../theme.js";

export const LINES_HEIGHT = 260;
const MARGIN = { left: 52, right: 46, top: 14, bottom: 36 }; // left and right as in the cell's picture, whose pointer is used here
const HUES = ["length-8", "length-2", "length-4", "length-other"];
const MOST_NAMED = 8;
const LETTER = 11; // pixels that a unit's number takes
const GAP = 18,
  LEAST_BAND = 14,
  MOST_BAND = 64,
  ROW = 9;

/** One line per unit; `good` says after which tokens the answer is right. */
export function paintLines(svg, width, { values, good, step }) {
  const last = values.length - 1;
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, LINES_HEIGHT - MARGIN.bottom];
  const [low, high] = span([0, ...values.flat().filter((value) => value !== null)], 0.06);
  const x = linear([0, Math.max(1, last)], [left, end]);
  const y = linear([low, high], [bottom, top]);
  axisBeside(svg, { y, values: ticks(low, high, 5), text: (value) => shown(value, 4), from: left, to: end });
  axisBelow(svg, { x, y: bottom, values: wholeTicks(0, last, Math.min(10, width / 60)), name: "tokens read", end });
  svg.append(draw("line", { class: "cursor", x1: x(step), x2: x(step), y1: top, y2: bottom }));
  values[0].forEach((_, unit) => {
    const hue = HUES[unit % HUES.length];
    const points = values.map((row, place) => [x(place), row[unit] === null ? NaN : y(row[unit])]);
    svg.append(draw("path", { class: `unit-line ${hue}`, d: pathThrough(points) }));
    const value = values[step][unit];
    if (value !== null) svg.append(draw("circle", { class: `unit-dot ${hue}`, cx: x(step), cy: y(value), r: 3 }));
  });
  nameLines(svg, values.at(-1), y, end + 6);
  good.forEach((fine, place) => {
    if (!fine) svg.append(cross(x(place), bottom, place === step ? 5.5 : 3.6));
  });
}

/** The number of each unit where its line ends, moved apart where lines end together. */
function nameLines(svg, values, y, x) {
  if (values.length < 2 || values.length > MOST_NAMED) return;
  const ends = values.map((value, unit) => ({ unit, at: value === null ? NaN : y(value) + 4 }));
  let free = -Infinity;
  for (const { unit, at } of ends.filter((end) => Number.isFinite(end.at)).sort((one, other) => one.at - other.at)) {
    free = Math.max(at, free + LETTER);
    svg.append(draw("text", { class: `unit-name ${HUES[unit % HUES.length]}`, x, y: free }, String(unit + 1)));
  }
}

function cross(x, y, size) {
  return draw("path", {
    class: "dot wrong",
    d: `M${x - size} ${y - size}L${x + size} ${y + size}M${x - size} ${y + size}L${x + size} ${y - size}`,
  });
}

const bandHeight = ({ values }) => Math.max(LEAST_BAND, Math.min(MOST_BAND, ROW * (values[0]?.length ?? 1)));

/** How high the picture of some gates is. */
export const gatesHeight = (gates) =>
  gates.reduce((sum, gate) => sum + bandHeight(gate) + GAP, 0) + MARGIN.bottom;

/** Each gate as a band: one row per unit, one column for the step to each token, the colour as full as the gate is open. */
export function paintGates(svg, width, { gates, step, last }) {
  const [left, end] = [MARGIN.left, width - MARGIN.right];
  const x = linear([0, Math.max(1, last)], [left, end]);
  let top = GAP;
  for (const gate of gates) {
    const height = bandHeight(gate);
    svg.append(
      draw("text", { class: "h-name", x: left - 24, y: top + height / 2 + 4, "text-anchor": "end" }, gate.letter),
      draw("text", { class: "tick-text", x: left, y: top - 4 }, gate.name),
      draw("rect", { class: "gate", x: left, y: top, width: x(last) - left, height }),
    );
    if (last)
      svg.append(
        draw("image", {
          class: "gate-values",
          href: bandImage(gate),
          x: left,
          y: top,
          width: end - left,
          height,
          preserveAspectRatio: "none",
        }),
      );
    top += height + GAP;
  }
  const bottom = top - GAP + 3;
  axisBelow(svg, { x, y: bottom, values: wholeTicks(0, last, Math.min(10, width / 60)), name: "tokens read", end });
  svg.append(draw("line", { class: "cursor", x1: x(step), x2: x(step), y1: 0, y2: bottom }));
}

const images = new WeakMap();

/** The band as a picture with one pixel per unit and token, made once for each colouring. */
function bandImage(gate) {
  const tints = [colour("accent"), colour("length-2")];
  const kept = images.get(gate);
  if (kept?.tints.join() === tints.join()) return kept.address;
  const [above, below] = tints.map((tint) => tint.match(/[\d.]+/g).slice(0, 3).map(Number));
  const [columns, rows] = [gate.values.length, gate.values[0].length];
  const image = new ImageData(columns, rows);
  gate.values.forEach((values, column) =>
    values.forEach((value, row) => {
      const strength = Math.round(255 * Math.min(1, Math.abs(value ?? 0)));
      image.data.set([...(value < 0 ? below : above), strength], 4 * (row * columns + column));
    }),
  );
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  canvas.getContext("2d").putImageData(image, 0, 0);
  const address = canvas.toDataURL();
  images.set(gate, { tints, address });
  return address;
}

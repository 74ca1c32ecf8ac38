// Histograms in strips, one above another, over one common axis.

import { draw } from "../dom.js";
import { shown } from "../numbers.js";
import { axisBelow } from "./frame.js";
import { linear, ticks } from "./scales.js";

const LEFT = 8,
  RIGHT = 8,
  TOP = 8,
  BELOW = 36;
const FILLED = 0.68; // of a strip; the rest is for words
const KNOWN = [2, 4, 8];

export const lengthClass = (length) => (KNOWN.includes(length) ? `length-${length}` : "length-other");

export function paintRidges(svg, width, { edges, series, condition }) {
  const height = svg.viewBox.baseVal.height;
  const bottom = height - BELOW;
  const strip = (bottom - TOP) / Math.max(1, series.length);
  const x = linear([edges[0], edges.at(-1)], [LEFT, width - RIGHT]);
  series.forEach((each, place) => svg.append(...ridge(each, edges, x, TOP + strip * (place + 1), strip, width)));
  if (condition !== null && condition !== undefined) {
    svg.append(draw("line", { class: "condition", x1: x(condition), x2: x(condition), y1: TOP, y2: bottom }));
  }
  axisBelow(svg, {
    x,
    y: bottom + 4,
    values: ticks(edges[0], edges.at(-1), Math.max(2, width / 90)),
    text: (value) => shown(value, 5),
  });
}

function ridge({ counts, below, above, missing, median, total, length }, edges, x, base, strip, width) {
  const most = Math.max(1, ...counts);
  const top = (count) => (base - (count / most) * strip * FILLED).toFixed(2);
  const steps = counts.map(
    (count, place) => `L${x(edges[place]).toFixed(2)} ${top(count)}L${x(edges[place + 1]).toFixed(2)} ${top(count)}`,
  );
  const style = lengthClass(length);
  const words = [`length ${length}`, missing ? `${share(missing, total)} undefined` : ""].filter(Boolean).join(", ");
  const found = [
    draw("line", { class: "base", x1: LEFT, x2: width - RIGHT, y1: base, y2: base }),
    draw("path", {
      class: `ridge ${style}`,
      d: `M${x(edges[0])} ${base}${steps.join("")}L${x(edges.at(-1))} ${base}Z`,
    }),
    draw("text", { class: "on-data", x: LEFT + 2, y: base - strip + 14 }, words),
  ];
  if (below)
    found.push(draw("text", { class: "on-data", x: LEFT + 2, y: base - strip + 28 }, `◂ ${share(below, total)}`));
  if (above)
    found.push(
      draw(
        "text",
        { class: "on-data", x: width - RIGHT - 2, y: base - strip + 14, "text-anchor": "end" },
        `${share(above, total)} ▸`,
      ),
    );
  if (median !== null && median >= edges[0] && median <= edges.at(-1)) {
    found.push(draw("path", { class: `median ${style}`, d: `M${x(median)} ${base - 1}l-4.5 7.5h9z` }));
  }
  return found;
}

const share = (some, all) => `${Number(((100 * some) / all).toPrecision(2))} %`;

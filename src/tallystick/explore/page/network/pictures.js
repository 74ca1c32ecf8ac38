// One output of a linear network: words, eigenvalues in the unit circle, what brackets add, and the margins by length.

import { axisBelow, axisBeside, chart, pathThrough } from "../charts/frame.js";
import { linear, span, ticks, wholeTicks } from "../charts/scales.js";
import { draw, make } from "../dom.js";
import { shown } from "../numbers.js";

const CIRCLE = 224,
  HEIGHT = 224,
  MARGINS_HEIGHT = 250;
const MARGIN = { left: 48, right: 14, top: 20, bottom: 38 };
const MARGIN_NAMES = [
  ["length-8", "the least y that should be above 0"],
  ["length-2", "the greatest y that should not"],
];
const MOST_DOTS = 64;
const LARGEST = 11;

/** The panel of an output; `failing` is the length of a shortest failing string, or null. */
export function outputPanel(output, failing) {
  const [circle, terms, margins] = [
    chart({ label: "Eigenvalues", height: CIRCLE, paint: paintCircle, name: "eigenvalues" }),
    chart({ label: "What a bracket adds", height: HEIGHT, paint: paintTerms, name: "terms" }),
    chart({ label: "Margins", height: MARGINS_HEIGHT, paint: paintMargins, name: "margins" }),
  ];
  const [above, below] = output.name.split(" against ");
  circle.update(output, describedEigenvalues(output));
  terms.update(output, output.reasons[1]);
  margins.update({ output, failing }, output.reasons.at(-1));
  return make(
    "section",
    { class: "panel", "aria-label": output.name },
    make("h2", {}, `The output y should be above 0 for “${above}”, and not for “${below}”`),
    make("ul", { class: "reasons" }, ...output.reasons.map((reason) => make("li", {}, subscripts(reason)))),
    make(
      "div",
      { class: "pictures" },
      figure("", ["Eigenvalues of U, each as large as its weight in y; hollow: not seen"], circle),
      figure("", ["δₖ: what a bracket adds if it opens instead of closing; shaded: its distance from L"], terms),
      figure("wide", ["Over all strings of a length: ", ...MARGIN_NAMES.map(swatch)], margins),
    ),
  );
}

const figure = (kind, title, { element }) => make("figure", { class: kind }, make("h3", {}, ...title), element);
const swatch = ([hue, text]) => make("span", { class: `swatch ${hue}` }, text);
const subscripts = (text) => text.replaceAll("δ_k", "δₖ");

function describedEigenvalues({ eigenvalues }) {
  const seen = eigenvalues.filter((each) => each.seen);
  return `Eigenvalues that the readout sees: ${seen.map(({ real, imaginary }) => complex(real, imaginary)).join(", ")}`;
}

const complex = (real, imaginary) =>
  imaginary ? `${shown(real, 3)} ${imaginary < 0 ? "−" : "+"} ${shown(Math.abs(imaginary), 3)}i` : shown(real, 3);

function paintCircle(svg, width, { eigenvalues }) {
  const side = Math.min(width, CIRCLE);
  const reach = Math.max(1.18, ...eigenvalues.map(({ real, imaginary }) => 1.12 * Math.hypot(real, imaginary)));
  const x = linear([-reach, reach], [0, side]),
    y = linear([-reach, reach], [side, 0]);
  svg.append(
    draw("line", { class: "grid", x1: 0, x2: side, y1: y(0), y2: y(0) }),
    draw("line", { class: "grid", x1: x(0), x2: x(0), y1: 0, y2: side }),
    draw("circle", { class: "circle", cx: x(0), cy: y(0), r: x(1) - x(0) }),
  );
  const largest = Math.max(...eigenvalues.map(({ weight }) => weight ?? 0)) || 1;
  for (const { real, imaginary, weight, seen } of eigenvalues) {
    const known = seen && weight !== null;
    const r = known ? Math.max(2.5, LARGEST * Math.sqrt(weight / largest)) : 4;
    const text = `${complex(real, imaginary)}${known ? `, weight ${shown(weight, 3)}` : ""}`;
    const place = { cx: x(real), cy: y(imaginary), r };
    svg.append(draw("circle", { class: known ? "mode" : "mode unseen-mode", ...place }, draw("title", {}, text)));
  }
  svg.append(
    draw("path", { class: "one", d: `M${x(1) - 6} ${y(0)}h12M${x(1)} ${y(0) - 6}v12` }),
    draw("text", { x: x(1) - 5, y: y(0) + 17, "text-anchor": "end" }, "1"),
  );
}

function paintTerms(svg, width, { added, limit }) {
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const [low, high] = span([0, limit, ...added], 0.05);
  const x = linear([-0.5, added.length - 0.5], [left, end]);
  const y = linear([low, high], [bottom, top]);
  axisBeside(svg, { y, values: ticks(low, high, 5), text: (value) => shown(value, 4), from: left, to: end });
  axisBelow(svg, {
    x,
    y: bottom,
    values: wholeTicks(0, added.length - 1, Math.min(8, width / 60)),
    name: "k tokens after it",
    end,
  });
  added.forEach((value, k) => {
    if (value === null) return;
    if (limit !== null)
      svg.append(
        draw("rect", {
          class: "astray",
          x: x(k - 0.5),
          width: x(1) - x(0),
          y: Math.min(y(value), y(limit)),
          height: Math.abs(y(value) - y(limit)),
        }),
      );
    svg.append(draw("line", { class: "term", x1: x(k), x2: x(k), y1: y(0), y2: y(value) }));
    if (added.length <= MOST_DOTS) svg.append(draw("circle", { class: "dot right", cx: x(k), cy: y(value), r: 2.6 }));
  });
  svg.append(draw("line", { class: "zero", x1: left, x2: end, y1: y(0), y2: y(0) }));
  if (limit === null) return;
  svg.append(
    draw("line", { class: "condition", x1: left, x2: end, y1: y(limit), y2: y(limit) }),
    draw("text", { class: "on-data", x: end, y: y(limit) - 6, "text-anchor": "end" }, `L = ${shown(limit, 4)}`),
  );
}

function paintMargins(svg, width, { output, failing }) {
  const { least_above: above, greatest_below: below } = output;
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, MARGINS_HEIGHT - MARGIN.bottom];
  const [low, high] = span([0, ...above, ...below], 0.08);
  const x = linear([0.5, above.length + 0.5], [left, end]);
  const y = linear([low, high], [bottom, top]);
  axisBeside(svg, { y, values: ticks(low, high, 6), text: (value) => shown(value, 4), from: left, to: end });
  axisBelow(svg, {
    x,
    y: bottom,
    values: wholeTicks(1, above.length, Math.min(12, width / 50)),
    name: "length (filled: even)",
    end,
  });
  svg.append(draw("line", { class: "zero", x1: left, x2: end, y1: y(0), y2: y(0) }));
  if (failing !== null && failing <= above.length)
    svg.append(
      draw("line", { class: "cursor", x1: x(failing), x2: x(failing), y1: top, y2: bottom }),
      draw("text", { class: "on-data", x: x(failing), y: top - 6, "text-anchor": "middle" }, `fails at ${failing}`),
    );
  paintSeries(svg, above, "above", { x, y });
  paintSeries(svg, below, "below", { x, y });
}

/** Even and odd lengths as a line each: their margins are a count apart. */
function paintSeries(svg, values, name, { x, y }) {
  const points = values.map((value, place) => [x(place + 1), value === null ? NaN : y(value)]);
  for (const parity of [0, 1])
    svg.append(
      draw("path", { class: name, d: pathThrough(points.filter(([, at], place) => place % 2 === parity && at === at)) }),
    );
  if (values.length > MOST_DOTS) return;
  points.forEach(([cx, cy], place) => {
    if (Number.isFinite(cy))
      svg.append(draw("circle", { class: place % 2 ? name : `${name} odd`, cx, cy, r: 3.2 }));
  });
}

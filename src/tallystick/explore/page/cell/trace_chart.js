// The picture of a trace: h after each token, the count in units of a beside it, and the classes as bands of h.

import { axisBelow, axisBeside, pathThrough } from "../charts/frame.js";
import { linear, span, ticks, wholeTicks } from "../charts/scales.js";
import { draw } from "../dom.js";
import { shown, signed } from "../numbers.js";

const MARGIN = { left: 52, right: 46, top: 22, bottom: 36 };
const MOST_DOTS = 160;

/** Paint the trace; `unit` is a, so that an exact counter lies on the line of its count. */
export function paintTrace(svg, width, { trace, step, unit }) {
  const height = svg.viewBox.baseVal.height;
  const { states, counts, right } = trace;
  const last = states.length - 1;
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
  const truth = counts.map((count) => count * unit);
  const [low, high] = span([0, ...states, ...truth], 0.08);
  const x = linear([0, Math.max(1, last)], [left, end]);
  const y = linear([low, high], [bottom, top]);

  paintBands(svg, trace.bands ?? [], { low, high, y, left, end });
  axisBeside(svg, { y, values: ticks(low, high, 5), text: (value) => shown(value, 4), from: left, to: end });
  const countTicks = wholeTicks(Math.min(...counts), Math.max(...counts), 5);
  axisBeside(svg, {
    y: (count) => y(count * unit),
    values: countTicks,
    text: (value) => signed(String(value)),
    from: left,
    to: end,
    side: "right",
    lines: false,
  });
  svg.append(
    draw("text", { class: "axis-name h-name", x: left - 6, y: top - 9, "text-anchor": "end" }, "h"),
    draw("text", { class: "axis-name", x: width - 4, y: top - 9, "text-anchor": "end" }, "count"),
  );
  axisBelow(svg, { x, y: bottom, values: wholeTicks(0, last, Math.min(10, width / 60)), name: "tokens read", end });
  svg.append(
    draw("line", { class: "cursor", x1: x(step), x2: x(step), y1: top, y2: bottom }),
    draw("path", { class: "count-line", d: pathThrough(truth.map((value, place) => [x(place), y(value)])) }),
    draw("path", {
      class: "h-line",
      d: pathThrough(states.map((value, place) => [x(place), value === null ? NaN : y(value)])),
    }),
  );
  const dots =
    last <= MOST_DOTS
      ? states.keys()
      : [...states.keys()].filter((place) => place === step || (place && !right[place]));
  for (const place of dots) {
    if (states[place] !== null)
      svg.append(dot(x(place), y(states[place]), place === 0 || right[place], place === step));
  }
}

function paintBands(svg, bands, { low, high, y, left, end }) {
  bands.forEach((band, index) => {
    const from = Math.max(low, band.low ?? low),
      to = Math.min(high, band.high ?? high);
    if (!(to > from)) return;
    svg.append(
      draw("rect", { class: `band band-${index % 3}`, x: left, width: end - left, y: y(to), height: y(from) - y(to) }),
    );
    if (y(from) - y(to) > 14)
      svg.append(draw("text", { class: "band-name", x: left + 7, y: y(to) + 13 }, band.class));
  });
}

/** A circle where the class is right, a cross where it is wrong: shape as well as colour. */
function dot(x, y, right, here) {
  const size = here ? 5.5 : 3.2;
  if (right) return draw("circle", { class: here ? "dot right here" : "dot right", cx: x, cy: y, r: size });
  return draw("path", {
    class: here ? "dot wrong here" : "dot wrong",
    d: `M${x - size} ${y - size}L${x + size} ${y + size}M${x - size} ${y + size}L${x + size} ${y - size}`,
  });
}

/** Which step lies under the pointer. */
export function stepAt(svg, event, last) {
  const box = svg.getBoundingClientRect();
  const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
  return Math.round(Math.max(0, Math.min(1, share)) * last);
}

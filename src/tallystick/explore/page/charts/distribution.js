// One histogram, with a band behind it and a line where the paper's number lies.

import { draw } from "../dom.js";
import { shown } from "../numbers.js";
import { axisBelow } from "./frame.js";
import { linear, ticks } from "./scales.js";

const SIDE = 14,
  TOP = 10,
  BELOW = 26;

export function paintDistribution(svg, width, { edges, counts, paper, band }) {
  const bottom = svg.viewBox.baseVal.height - BELOW;
  const ends = [edges[0], edges.at(-1), paper, ...(band ?? [])].filter(Number.isFinite);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = linear(low === high ? [low - 1, high + 1] : [low, high], [SIDE, width - SIDE]);
  const y = linear([0, Math.sqrt(Math.max(1, ...counts))], [bottom, TOP]); // few must be seen beside many
  if (band)
    svg.append(
      draw("rect", {
        class: "allowed",
        x: x(band[0]) - 1,
        width: x(band[1]) - x(band[0]) + 2,
        y: TOP,
        height: bottom - TOP,
      }),
    );
  counts.forEach((count, place) => {
    const [left, right] = [x(edges[place]), x(edges[place + 1])];
    if (count)
      svg.append(
        draw("rect", {
          class: "bar",
          x: left,
          width: Math.max(0.8, right - left - 0.5),
          y: y(Math.sqrt(count)),
          height: bottom - y(Math.sqrt(count)),
        }),
      );
  });
  svg.append(draw("line", { class: "tick", x1: SIDE, x2: width - SIDE, y1: bottom, y2: bottom }));
  if (Number.isFinite(paper))
    svg.append(draw("line", { class: "condition", x1: x(paper), x2: x(paper), y1: TOP, y2: bottom }));
  axisBelow(svg, { x, y: bottom, values: ticks(low, high, 5), text: (value) => shown(value, 4) });
}

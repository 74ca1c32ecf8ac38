// What charts share: an SVG as wide as its place, axes, and a label for screen readers.

import { draw, make, onWidth } from "../dom.js";

/** A chart that is drawn again when its place or its data change: `paint(svg, width, data)`. */
export function chart({ label, height, paint, name }) {
  const svg = draw("svg", { class: "chart", role: "img", "aria-label": label, height, "data-name": name });
  const element = make("div", { class: "chart-place" }, svg);
  let width = 0,
    data = null;
  function repaint() {
    if (!width || data === null) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.replaceChildren();
    paint(svg, width, data);
  }
  onWidth(element, (found) => {
    width = found;
    repaint();
  });
  return {
    element,
    svg,
    update(found, said) {
      data = found;
      if (said) svg.setAttribute("aria-label", said);
      repaint();
    },
  };
}

/** A horizontal axis below: ticks, their texts and a name at the end. */
export function axisBelow(svg, { x, y, values, text = String, name, end }) {
  for (const value of values) {
    svg.append(
      draw("line", { class: "tick", x1: x(value), x2: x(value), y1: y, y2: y + 4 }),
      draw("text", { class: "tick-text", x: x(value), y: y + 16, "text-anchor": "middle" }, text(value)),
    );
  }
  if (name) svg.append(draw("text", { class: "axis-name", x: end, y: y + 31, "text-anchor": "end" }, name));
}

/** A vertical axis: lines across the chart, with texts on one side. */
export function axisBeside(svg, { y, values, text = String, from, to, side = "left", lines = true }) {
  for (const value of values) {
    if (lines) svg.append(draw("line", { class: "grid", x1: from, x2: to, y1: y(value), y2: y(value) }));
    const place = side === "left" ? { x: from - 6, "text-anchor": "end" } : { x: to + 6, "text-anchor": "start" };
    svg.append(draw("text", { class: "tick-text", y: y(value) + 4, ...place }, text(value)));
  }
}

/** A path through points; a missing one breaks it. */
export function pathThrough(points) {
  let down = false;
  return points
    .map(([x, y]) => {
      const finite = Number.isFinite(x) && Number.isFinite(y);
      const command = finite ? `${down ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}` : "";
      down = finite;
      return command;
    })
    .join("");
}

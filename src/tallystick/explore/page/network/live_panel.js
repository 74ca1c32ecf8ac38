// How many prefixes live at each length, for a network that answers after every token.

import { inLine, post } from "../api.js";
import { axisBelow, axisBeside, chart } from "../charts/frame.js";
import { linear, wholeTicks } from "../charts/scales.js";
import { draw, make } from "../dom.js";
import { whole } from "../numbers.js";

const HEIGHT = 190;
const MARGIN = { left: 52, right: 46, top: 22, bottom: 36 };

export function livePanel({ answer }, text) {
  const picture = chart({ label: "Live prefixes", height: HEIGHT, paint, name: "live" });
  const which = answer === "threshold" ? "that the network has not rejected" : "that some member begins with";
  const said = make("p", { class: "soft" }, `Prefixes ${which}, by their length.`);
  const line = inLine();
  line((signal) => post("api/live", `{"network": ${text}}`, signal), {
    done({ counts }) {
      const most = whole(Math.max(...counts));
      said.textContent = `Prefixes ${which}, by their length: at most ${most}, to length ${counts.length - 1}.`;
      picture.update(counts, said.textContent);
    },
    failed(message) {
      said.textContent = message;
    },
  });
  const title = make("h2", {}, "Live prefixes");
  const element = make("section", { class: "panel", "aria-label": "Live prefixes" }, title, said, picture.element);
  return { element, stop: line.stop };
}

function paint(svg, width, live) {
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const most = Math.max(1, ...live);
  const x = linear([-0.5, live.length - 0.5], [left, end]);
  const y = linear([0, most], [bottom, top]);
  axisBeside(svg, { y, values: wholeTicks(0, most, 4), text: whole, from: left, to: end });
  axisBelow(svg, { x, y: bottom, values: wholeTicks(0, live.length - 1, Math.min(10, width / 60)), name: "length", end });
  live.forEach((count, length) => {
    const wide = Math.max(0.6, 0.8 * (x(1) - x(0)));
    svg.append(draw("rect", { class: "bar", x: x(length) - wide / 2, width: wide, y: y(count), height: bottom - y(count) }));
  });
}

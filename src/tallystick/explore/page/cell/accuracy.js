// Exact accuracy against length: the share of all 2^N strings that get the right class, counted and not sampled.

import { inLine, post } from "../api.js";
import { axisBelow, axisBeside, chart, pathThrough } from "../charts/frame.js";
import { linear, ticks, wholeTicks } from "../charts/scales.js";
import { debounced, draw, make } from "../dom.js";
import { NETWORK_KEYS, question } from "../network.js";
import { finePercent, grouped } from "../numbers.js";
import { onChange, state, update } from "../state.js";

const WAIT = 250,
  HEIGHT = 230,
  LONGEST = [10, 20, 30, 40];
const MARGIN = { left: 48, right: 16, top: 14, bottom: 36 };

export function accuracyPanel(complain) {
  const complaint = make("p", { class: "complaint", role: "alert" });
  const said = make("p", { class: "said" });
  const note = make("p", { class: "soft" });
  const body = make("tbody");
  const picture = chart({ label: "Exact accuracy against length", height: HEIGHT, paint, name: "accuracy" });
  const longest = make(
    "select",
    { "aria-label": "Longest length", onchange: () => update({ longest: longest.value }) },
    ...LONGEST.map((value) => make("option", { value }, `to length ${value}`)),
  );
  const line = inLine();
  let curve = null;

  function ask() {
    longest.value = state.longest;
    picture.element.setAttribute("aria-busy", "true");
    line((signal) => post("api/accuracy", question({ longest: Number(state.longest) || 20 }), signal), {
      done(found) {
        complaint.textContent = "";
        picture.element.removeAttribute("aria-busy");
        curve = found;
        picture.update(found, described(found));
        said.textContent = atLength(found, found.lengths.length - 1);
        body.replaceChildren(
          ...found.lengths.map((length, place) =>
            make("tr", {}, make("td", {}, String(length)), make("td", {}, `${finePercent(found.all[place])} %`)),
          ),
        );
        note.textContent = found.note ?? "";
      },
      failed(message) {
        complaint.textContent = complain(message) ? "" : message;
      },
    });
  }

  picture.svg.addEventListener("pointermove", (event) => {
    if (!curve?.lengths.length) return;
    const box = picture.svg.getBoundingClientRect();
    const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
    const place = Math.max(0, Math.min(curve.lengths.length - 1, Math.round(share * (curve.lengths.length - 1))));
    said.textContent = atLength(curve, place);
  });

  onChange([...NETWORK_KEYS, "longest"], debounced(ask, WAIT));
  ask();
  return make(
    "section",
    { class: "panel", "aria-label": "Exact accuracy" },
    make("div", { class: "row heading" }, make("h2", {}, "Exact accuracy against length"), longest),
    complaint,
    picture.element,
    said,
    note,
    make(
      "details",
      {},
      make("summary", {}, "As a table"),
      make(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Accuracies as a table" },
        make(
          "table",
          { class: "narrow" },
          make(
            "thead",
            {},
            make("tr", {}, make("th", { scope: "col" }, "Length"), make("th", { scope: "col" }, "Accuracy")),
          ),
          body,
        ),
      ),
    ),
  );
}

function paint(svg, width, { lengths, all }) {
  if (!lengths.length) return;
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const low = Math.max(0, Math.min(90, Math.floor(Math.min(...all) / 10) * 10));
  const x = linear([lengths[0], Math.max(lengths.at(-1), lengths[0] + 1)], [left + 6, end]);
  const y = linear([low, 100], [bottom, top]);
  axisBeside(svg, { y, values: ticks(low, 100, 5), text: (value) => `${value} %`, from: left, to: end });
  axisBelow(svg, {
    x,
    y: bottom,
    values: wholeTicks(lengths[0], lengths.at(-1), Math.min(10, width / 50)),
    name: "length (filled: even)",
    end,
  });
  const points = all.map((value, place) => [x(lengths[place]), y(value)]);
  svg.append(draw("path", { class: "h-line thin", d: pathThrough(points) }));
  points.forEach(([cx, cy], place) => {
    svg.append(draw("circle", { class: lengths[place] % 2 ? "dot odd" : "dot right", cx, cy, r: 3.2 }));
  });
}

function atLength({ lengths, all, total }, place) {
  const exact = total?.[place] ? ` (${total[place].split("/").map(grouped).join(" of ")})` : "";
  return lengths.length ? `Length ${lengths[place]}: ${finePercent(all[place])} % of all strings right${exact}.` : "";
}

function described({ lengths, all }) {
  if (!lengths.length) return "No length could be counted.";
  const at = (place) => `${finePercent(all.at(place))} percent at length ${lengths.at(place)}`;
  return `Exact accuracy from ${at(0)} to ${at(-1)}.`;
}

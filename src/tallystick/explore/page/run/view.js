// The view "A run": the plane of all trained cells, filters, training paths, and the histograms of Figure 1.

import { Refused, inLine, once, query } from "../api.js";
import { debounced, labelled, make } from "../dom.js";
import { lengthClass } from "../charts/ridges.js";
import { saveCanvas } from "../export.js";
import { whole } from "../numbers.js";
import { addKeys, onChange, state, update } from "../state.js";
import { cellsIn } from "./cells.js";
import { chosenSettings, filterKeys, filterRow } from "./filters.js";
import { histogramPanel } from "./histograms.js";
import { chosenCell } from "./chosen_cell.js";
import { pathsControl } from "./paths.js";
import { plane } from "./plane.js";
import { NEAR, WINDOW_KEYS, presentWindow, setHome, windowState } from "./window.js";

const REGIONS = "2,4,8,16,32,64";
const WAIT = 60;
const SHADED = "Shaded: R_2 ⊃ R_4 ⊃ … ⊃ R_64. They speak of binary linear cells without bias, v·a > 0.";
const UNITS =
  "Cells with several units: how well the best unit follows the count, and how many strings of 1,000 tokens are right.";
const NO_REGIONS = "No regions: with a bias, a third class or another cell, a/b and U alone do not decide.";

export async function build(section) {
  let run;
  try {
    run = await once("api/run");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    section.append(make("p", { class: "complaint", role: "alert" }, error.message));
    return;
  }
  if (run) section.append(...runPanels(run));
  else section.append(withoutRun());
}

export function withoutRun() {
  return make(
    "p",
    { class: "empty" },
    "No run is open. Give one when starting: ",
    make("code", {}, "tallystick explore RUN"),
    ", where RUN is a folder that ",
    make("code", {}, "tallystick train"),
    " or ",
    make("code", {}, "tallystick reproduce"),
    " wrote.",
  );
}

function runPanels(run) {
  addKeys(filterKeys(run));
  setHome(run.window);
  const complaint = make("p", { class: "complaint", role: "alert" });
  const counted = make("p", { class: "said", role: "status" });
  const card = chosenCell(run);
  const picture = plane({
    axes: run.plane,
    counter: run.counter,
    move: (window) => update(windowState(window)),
    choose: card.choose,
  });
  const line = inLine();
  const histograms = histogramPanel(run, () => settings());
  let filled = false;

  /** The histograms below come after the plane, which is looked at first. */
  function fillOnce() {
    if (!filled) histograms.fill();
    filled = true;
  }

  const settings = () => chosenSettings(run);
  const lengthOf = new Map(run.settings.map((setting) => [setting.id, setting.train_length]));

  function askCells() {
    const ids = settings().map(({ id }) => id);
    if (!ids.length) {
      picture.setCells(null);
      counted.textContent = "No setting of this run has all of these.";
      return;
    }
    line((signal) => cellsIn({ ids, window: presentWindow(), size: picture.size(), signal, lengthOf }), {
      done(cells) {
        complaint.textContent = "";
        picture.setCells(cells);
        counted.replaceChildren(...sentence(cells, settings(), run.has_units ? "networks" : "cells"));
        picture.canvas.dataset.drawn = cells.kind;
        fillOnce();
      },
      failed(message) {
        complaint.textContent = message;
        fillOnce();
      },
    });
  }

  const note = make("p", { class: "soft" });
  async function askRegions() {
    const apply = settings().some(({ in_plane: speaksOf }) => speaksOf);
    note.replaceChildren(...labelled(apply ? SHADED : run.has_units ? UNITS : NO_REGIONS));
    try {
      const found =
        state.regions === "none" || !apply
          ? { regions: [] }
          : await once(query("api/regions", { longest: REGIONS, lengths: state.regions }));
      picture.setRegions(found.regions);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      picture.setRegions([]);
      note.textContent = error.message;
    }
  }

  const paths = pathsControl(run, settings, (found) => picture.setPaths(found), lengthOf);
  onChange(WINDOW_KEYS, () => picture.setWindow(presentWindow()));
  const later = debounced(askCells, WAIT);
  onChange([...WINDOW_KEYS, ...filterKeys(run)], () => {
    picture.canvas.dataset.drawn = "";
    later();
  });
  onChange(["regions", ...filterKeys(run)], askRegions);
  picture.onResize(later);
  picture.setWindow(presentWindow());
  askRegions();

  return [
    filterRow(run),
    make("figure", { class: "plane" }, picture.canvas, toolbar(picture, paths.element, run)),
    complaint,
    counted,
    note,
    paths.complaint,
    card.element,
    histograms.element,
  ];
}

function sentence(cells, settings, noun) {
  const start = `${whole(cells.total)} ${noun}, ${whole(cells.inside)} in view`;
  if (cells.kind === "bins") return [`${start}, drawn as densities; zoom in for single ${noun}.`];
  const lengths = [...new Set(settings.map(({ train_length: length }) => length))].sort((one, other) => one - other);
  return [
    `${start}, each a point. Training length: `,
    ...lengths.map((length) => make("span", { class: `swatch ${lengthClass(length)}` }, String(length))),
  ];
}

function toolbar(picture, pathsElement, { counter, has_units: several }) {
  const button = (text, label, act) =>
    make(
      "button",
      { type: "button", "aria-label": label, title: label, onclick: act, class: text.length < 3 ? "icon" : null },
      text,
    );
  const regions = make(
    "select",
    { "aria-label": "Regions", onchange: () => update({ regions: regions.value }) },
    ...Object.entries({ all: "regions: every length", even: "regions: even lengths", none: "no regions" }).map(
      ([value, text]) => make("option", { value }, text),
    ),
  );
  const refresh = () => (regions.value = state.regions);
  onChange(["regions"], refresh);
  refresh();
  return make(
    "figcaption",
    { class: "row" },
    button("+", "Zoom in", () => picture.zoom(0.6)),
    button("−", "Zoom out", () => picture.zoom(1 / 0.6)),
    button(several ? "Most networks" : "Most cells", `Show where most ${several ? "networks" : "cells"} are`, () =>
      update({ x0: "", x1: "", y0: "", y1: "" }),
    ),
    counter && button("Near the counter", "Show the part around the exact counter", () => update(windowState(NEAR))),
    several ? null : regions,
    pathsElement,
    button("Picture (PNG)", "Save the plane as a picture", () => saveCanvas(picture.canvas, "plane.png")),
  );
}

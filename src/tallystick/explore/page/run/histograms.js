// How the columns of a run are distributed: a strip for each training length, a panel for each group of settings.

import { Refused, get, query } from "../api.js";
import { chart } from "../charts/frame.js";
import { paintRidges } from "../charts/ridges.js";
import { debounced, make } from "../dom.js";
import { saveSvg } from "../export.js";
import { onChange, state, update } from "../state.js";
import { filterKeys, groupTitle } from "./filters.js";

const STRIP = 58,
  BELOW = 44;
const MOST_GROUPS = 8;
const LEGEND =
  "A strip for each training length, scaled to its own peak, as in the paper's Figure 1. " +
  "Dashed: the condition. Triangle: the median. ◂ and ▸: the share cut off on that side.";

export function histogramPanel(run, settings) {
  const panels = make("div", { class: "ridges" });
  const note = make("p", { class: "soft" });
  const complaint = make("p", { class: "complaint", role: "alert" });
  let asking = new AbortController();

  async function fill() {
    asking.abort();
    asking = new AbortController();
    const groups = grouped(settings(), run);
    const shown = [...groups].slice(0, MOST_GROUPS);
    note.textContent =
      groups.size > MOST_GROUPS ? `The first ${MOST_GROUPS} of ${groups.size} groups; the filters choose others.` : "";
    complaint.textContent = "";
    panels.replaceChildren();
    for (const [title, members] of shown) {
      const pair = shownColumns(run).map((column) => {
        const picture = chart({
          label: `${column.title}, ${title}`,
          height: STRIP * members.length + BELOW,
          paint: paintRidges,
          name: `histogram-${column.name}`,
        });
        ask(picture, column, title, members, asking.signal);
        return make("figure", {}, make("figcaption", {}, make("i", {}, column.title)), picture.element);
      });
      panels.append(make("div", { class: "pair" }, make("h3", {}, title), ...pair));
    }
  }

  async function ask(picture, column, title, members, signal) {
    try {
      const found = await get(
        query("api/run/histogram", { setting: members.map(({ id }) => id).join(","), column: column.name, bins: 60 }),
        signal,
      );
      const lengths = new Map(members.map(({ id, train_length: length }) => [id, length]));
      const series = found.series.map((each) => ({ ...each, length: lengths.get(each.setting) }));
      picture.update({ ...found, series }, described(column.title, title, series));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Refused)) throw error;
      complaint.textContent = error.message;
    }
  }

  const save = () => panels.querySelectorAll("svg").forEach((svg, place) => saveSvg(svg, `histogram-${place + 1}.svg`));
  onChange(["column", ...filterKeys(run)], debounced(fill, 60));
  const element = make(
    "section",
    { class: "panel", "aria-label": "Histograms" },
    make(
      "div",
      { class: "row heading" },
      make("h2", {}, "How the indicators are distributed"),
      columnSelect(run),
      make("button", { type: "button", onclick: save }, "Pictures (SVG)"),
    ),
    make("p", { class: "soft" }, LEGEND),
    complaint,
    panels,
    note,
  );
  return { element, fill };
}

/** The column that was chosen, or else those of the plane, as Figure 1 has them. */
function shownColumns({ columns, plane }) {
  const chosen = columns.filter(({ name }) => name === state.column);
  return chosen.length ? chosen : plane;
}

function columnSelect({ columns, plane }) {
  const titles = plane.map(({ title }) => title);
  const select = make(
    "select",
    { "aria-label": "Column", onchange: () => update({ column: select.value }) },
    make("option", { value: "" }, titles.join(" and ")),
    ...columns.map(({ name, title }) => make("option", { value: name }, title)),
  );
  const refresh = () => (select.value = state.column);
  onChange(["column"], refresh);
  refresh();
  return select;
}

/** Settings that differ in their training length alone stand in one panel, the shortest on top. */
function grouped(settings, run) {
  const groups = new Map();
  for (const setting of settings) {
    const title = groupTitle(setting, { ...run, settings });
    groups.set(
      title,
      [...(groups.get(title) ?? []), setting].sort((one, other) => one.train_length - other.train_length),
    );
  }
  return groups;
}

function described(words, title, series) {
  const medians = series.map(
    ({ length, median }) => `length ${length}: median ${median === null ? "none" : median.toPrecision(4)}`,
  );
  return `Distribution of ${words}, ${title}. ${medians.join("; ")}.`;
}

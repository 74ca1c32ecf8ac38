// The view "The table": Table 2 with the paper's numbers and the bands, and behind each entry its distribution.

import { Refused, once } from "../api.js";
import { make } from "../dom.js";
import { percent } from "../numbers.js";
import { withoutRun } from "../run/view.js";
import { onChange, state, update } from "../state.js";
import { distributionCard } from "./distribution_card.js";

export async function build(section) {
  try {
    const run = await once("api/run");
    if (!run) section.append(withoutRun());
    else if (!run.has_table) section.append(withoutTable());
    else section.append(...tablePanels(await once("api/run/table"), run.columns));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    section.append(make("p", { class: "complaint", role: "alert" }, error.message));
  }
}

function withoutTable() {
  const command = make("code", {}, "tallystick reproduce");
  return make(
    "p",
    { class: "empty" },
    "This run has no Table 2: it is not of the paper's grid. ",
    command,
    " makes one.",
  );
}

function tablePanels({ editions, columns }, runColumns) {
  const place = make("div");
  const behind = distributionCard(runColumns);
  const select = make(
    "select",
    { "aria-label": "Edition", onchange: () => update({ printed: select.value }) },
    ...editions.map(({ id }) => make("option", { value: id }, id)),
  );
  function show() {
    const edition = editions.find(({ id }) => id === state.printed) ?? editions[0];
    select.value = edition.id;
    behind.hide();
    place.replaceChildren(editionTable(edition, columns, behind));
  }
  onChange(["printed"], show);
  show();
  const label = make("label", {}, make("span", {}, "Edition"), select);
  return [make("div", { class: "filters", hidden: editions.length < 2 }, label), place, behind.element];
}

function editionTable({ title, legend, rows }, columns, behind) {
  const head = ["Setting", "Length", ...columns.map(({ title: name }) => name)].map((text) => make("th", { scope: "col" }, text));
  let previous = "";
  const body = rows.map((row) => {
    const first = row.group !== previous;
    previous = row.group;
    return make(
      "tr",
      { class: first ? "first" : null },
      make("th", { scope: "row", class: first ? null : "again" }, row.group),
      make("td", {}, String(row.train_length)),
      ...columns.map((column) => make("td", {}, row.entries[column.id] ? entryButton(row, column, behind) : "–")),
    );
  });
  return make(
    "div",
    { class: "edition" },
    make("h2", {}, title),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
      make("table", { class: "table2" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)),
    ),
    make("p", { class: "soft" }, (legend ?? []).join(" ")),
    notesOn(rows, columns),
  );
}

function notesOn(rows, columns) {
  const notes = rows.flatMap(({ group, train_length: length, entries }) =>
    columns
      .filter(({ id }) => entries[id]?.note)
      .map(({ id, title }) => make("li", {}, `${group}, length ${length}, ${title}: ${entries[id].note}.`)),
  );
  if (!notes.length) return null;
  const title = make("summary", {}, `Notes on ${notes.length} entries`);
  return make("details", {}, title, make("ul", { class: "soft notes" }, ...notes));
}

function entryButton(row, column, behind) {
  const { avg, min, max, paper, band, inside } = row.entries[column.id];
  const show = () => behind.show(row, column, button);
  const range = band && `${inside ? "inside" : "outside"} ${percent(band[0])}–${percent(band[1])}`;
  const button = make(
    "button",
    {
      type: "button",
      class: "entry",
      onmouseenter: show,
      onfocus: show,
      onclick: show,
      onmouseleave: () => behind.leave(),
      onblur: () => behind.hide(),
      onkeydown: (event) => event.key === "Escape" && behind.hide(),
    },
    make("span", { class: "ours" }, `${percent(avg)} `, make("small", {}, `(${percent(min)}/${percent(max)})`)),
    make("span", { class: "paper" }, `paper ${paper.avg} (${paper.min}/${paper.max})`),
    range && make("span", { class: inside ? "good" : "bad" }, range),
  );
  return button;
}

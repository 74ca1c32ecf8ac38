// The view "The table": Table 2 with the paper's numbers and the bands, and behind each entry its distribution.

import { Refused, get, inLine, once, query } from "./api.js";
import { chart } from "./charts/frame.js";
import { paintDistribution } from "./charts/distribution.js";
import { debounced, make } from "./dom.js";
import { percent, whole } from "./numbers.js";
import { withoutRun } from "./run/view.js";
import { onChange, state, update } from "./state.js";

const COLUMNS = new Map([["train", "Train"], ["20", "20 tokens"], ["50", "50 tokens"]]);
const LINGER = 120, HIGH = 100;

export async function build(section) {
  try {
    const run = await once("api/run");
    if (!run) section.append(withoutRun());
    else if (run.has_table === false) section.append(make("p", { class: "empty" }, "This run is not of the paper's grid, so it has no Table 2. ", make("code", {}, "tallystick reproduce"), " makes one that has."));
    else section.append(...tablePanels((await once("api/run/table")).editions));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    section.append(make("p", { class: "complaint", role: "alert" }, error.message));
  }
}

function tablePanels(editions) {
  const place = make("div");
  const behind = distributionCard();
  const select = make("select", { "aria-label": "Edition", onchange: () => update({ printed: select.value }) }, ...editions.map(({ id }) => make("option", { value: id }, id)));
  function show() {
    const edition = editions.find(({ id }) => id === state.printed) ?? editions[0];
    select.value = edition.id;
    behind.hide();
    place.replaceChildren(editionTable(edition, behind));
  }
  onChange(["printed"], show);
  show();
  const choice = editions.length > 1 ? [make("form", { class: "filters", "aria-label": "Edition" }, make("label", {}, make("span", {}, "Edition"), select))] : [];
  return [...choice, place, behind.element];
}

function editionTable({ title, legend, rows }, behind) {
  const head = ["Setting", "Length", ...COLUMNS.values()].map((text) => make("th", { scope: "col" }, text));
  let previous = "";
  const body = rows.map((row) => {
    const first = row.group !== previous;
    previous = row.group;
    return make("tr", { class: first ? "first" : null },
      make("th", { scope: "row", class: first ? null : "again" }, row.group), make("td", {}, String(row.train_length)),
      ...[...COLUMNS.keys()].map((column) => make("td", {}, row.entries[column] ? entryButton(row, column, behind) : "–")));
  });
  const notes = rows.flatMap((row) => [...COLUMNS].filter(([column]) => row.entries[column]?.note)
    .map(([column, name]) => make("li", {}, `${row.group}, length ${row.train_length}, ${name}: ${row.entries[column].note}.`)));
  return make("div", { class: "edition" },
    make("h2", {}, title),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
      make("table", { class: "table2" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body))),
    make("p", { class: "soft" }, (legend ?? []).join(" ")),
    notes.length ? make("details", {}, make("summary", {}, `Notes on ${notes.length} entries`), make("ul", { class: "soft notes" }, ...notes)) : "",
  );
}

function entryButton(row, column, behind) {
  const entry = row.entries[column];
  const standing = entry.inside === null || entry.inside === undefined ? "" : entry.inside ? "inside" : "outside";
  const button = make("button", {
    type: "button", class: "entry",
    onmouseenter: () => behind.show(row, column, button), onfocus: () => behind.show(row, column, button), onclick: () => behind.show(row, column, button),
    onmouseleave: () => behind.leave(), onblur: () => behind.hide(),
    onkeydown: (event) => event.key === "Escape" && behind.hide(),
  },
  make("span", { class: "ours" }, `${percent(entry.avg)} `, make("small", {}, `(${percent(entry.min)}/${percent(entry.max)})`)),
  make("span", { class: "paper" }, `paper ${entry.paper.avg} (${entry.paper.min}/${entry.paper.max})`),
  entry.band ? make("span", { class: standing === "inside" ? "good" : "bad" }, `${standing} ${percent(entry.band[0])}–${percent(entry.band[1])}`) : "");
  return button;
}

/** The card with the distribution behind an entry; it stands beside the entry, or at the foot of a small screen. */
function distributionCard() {
  const title = make("p", { class: "card-title" });
  const text = make("p", { class: "soft" });
  const picture = chart({ label: "Distribution of the accuracy", height: 170, paint: paintDistribution, name: "distribution" });
  const element = make("aside", { class: "behind", hidden: true, "aria-live": "polite", "aria-label": "Distribution behind the entry" }, title, picture.element, text);
  const line = inLine();
  let leaving = 0;

  const ask = debounced((row, column, button) => {
    const entry = row.entries[column];
    const low = Math.floor(Math.min(entry.min, entry.band?.[0] ?? 100, Number(entry.paper.avg), HIGH - 1));
    line((signal) => get(query("api/run/histogram", { setting: row.setting, column: `accuracy_${column}`, bins: 40, low, high: HIGH }), signal), {
      done({ edges, series: [found] }) {
        const below = found.below ? `, ${whole(found.below)} below ${low} %` : "";
        const mean = entry.mean === null ? "" : `, mean ${percent(entry.mean)} %`;
        text.textContent = `${whole(found.total)} networks: median ${percent(found.median)} %${mean}${below}. Dashed: the paper's average; shaded: the band; heights by square root.`;
        picture.update({ edges, counts: found.counts, paper: Number(entry.paper.avg), band: entry.band }, text.textContent);
        stand(element, button);
      },
      failed: (message) => (text.textContent = message),
    });
  }, LINGER);

  function hide() {
    clearTimeout(leaving);
    element.hidden = true;
  }

  return {
    element,
    hide,
    leave: () => (leaving = setTimeout(() => document.activeElement.classList.contains("entry") || hide(), LINGER)),
    show(row, column, button) {
      clearTimeout(leaving);
      title.textContent = `${row.group}, length ${row.train_length}: accuracy, ${column === "train" ? "training strings" : COLUMNS.get(column)}`;
      element.hidden = false;
      stand(element, button);
      ask(row, column, button);
    },
  };
}

function stand(element, button) {
  const place = button.getBoundingClientRect(), own = element.getBoundingClientRect();
  if (getComputedStyle(element).getPropertyValue("--foot").trim() === "yes") return; // the style sheet puts it there
  const below = place.bottom + own.height + 12 < innerHeight;
  element.style.top = `${below ? place.bottom + 6 : Math.max(8, place.top - own.height - 6)}px`;
  element.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 24, place.left))}px`;
}

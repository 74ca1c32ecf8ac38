// Which settings of a run are looked at: one choice for each way in which its settings differ.

import { make } from "../dom.js";
import { onChange, state, update } from "../state.js";

const FACETS = [
  { key: "edition", field: "edition", title: "Edition" },
  { key: "task", field: "task", title: "Task" },
  { key: "bias", field: "bias", title: "Bias", words: { true: "with bias", false: "without bias" } },
  { key: "length", field: "train_length", title: "Training length" },
  { key: "method", field: "method", title: "Method" },
  { key: "precision", field: "precision", title: "Precision" },
  { key: "trained", field: "cell", title: "Cell" },
];
export const FILTER_KEYS = FACETS.map(({ key }) => key);

export function chosenSettings(settings) {
  return settings.filter((setting) =>
    FACETS.every(({ key, field }) => state[key] === "" || String(setting[field]) === state[key]),
  );
}

/** The fields that tell settings apart; one that follows from those before it tells nothing. */
function tellingFields(settings) {
  const kinds = (fields) => new Set(settings.map((setting) => fields.map((field) => setting[field]).join("\0"))).size;
  return FACETS.map(({ field }) => field).reduce(
    (found, field) => (kinds([...found, field]) > kinds(found) ? [...found, field] : found),
    [],
  );
}

export function filterRow(settings) {
  const telling = tellingFields(settings);
  const selects = FACETS.filter(({ field }) => telling.includes(field)).map((facet) => facetSelect(facet, settings));
  const refresh = () => selects.forEach(({ refresh: each }) => each());
  onChange(FILTER_KEYS, refresh);
  return make(
    "form",
    { class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    ...selects.map(({ element }) => element),
  );
}

function facetSelect({ key, field, title, words = {} }, settings) {
  const values = [...new Set(settings.map((setting) => String(setting[field])))].sort((one, other) =>
    one.localeCompare(other, "en", { numeric: true }),
  );
  const select = make(
    "select",
    { "aria-label": title, onchange: () => update({ [key]: select.value }) },
    make("option", { value: "" }, "any"),
    ...values.map((value) => make("option", { value }, words[value] ?? value)),
  );
  const refresh = () => (select.value = state[key]);
  refresh();
  return { element: make("label", {}, make("span", {}, title), select), refresh };
}

/** A setting in words, without its training length; what all settings share is left out. */
export function groupTitle(setting, settings) {
  const more = tellingFields(settings).filter((field) => !["task", "bias", "train_length"].includes(field));
  return [`${setting.task} ${setting.bias ? "with" : "without"} bias`, ...more.map((field) => setting[field])].join(
    ", ",
  );
}

// Which settings of a run are looked at: one choice for each field in which its settings differ.

import { make } from "../dom.js";
import { onChange, state, update } from "../state.js";

// In an address "cell" is the cell that is looked at, and addresses are kept, so these two have keys of their own.
const KEYS = { train_length: "length", cell: "trained" };
const WORDS = { bias: { true: "with bias", false: "without bias" } };

const keyOf = (field) => KEYS[field] ?? field;
export const filterKeys = (run) => run.fields.map(({ name }) => keyOf(name));

export function chosenSettings(run) {
  return run.settings.filter((setting) =>
    run.fields.every(({ name }) => state[keyOf(name)] === "" || String(setting[name]) === state[keyOf(name)]),
  );
}

/** The fields that tell settings apart; one that follows from those before it tells nothing. */
function tellingFields({ settings, fields }) {
  const kinds = (some) => new Set(settings.map((setting) => some.map(({ name }) => setting[name]).join("\0"))).size;
  return fields.reduce((found, field) => (kinds([...found, field]) > kinds(found) ? [...found, field] : found), []);
}

export function filterRow(run) {
  const selects = tellingFields(run).map((field) => fieldSelect(field, run.settings));
  onChange(filterKeys(run), () => selects.forEach(({ refresh }) => refresh()));
  return make(
    "form",
    { class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    ...selects.map(({ element }) => element),
  );
}

function fieldSelect({ name, title }, settings) {
  const heading = title[0].toUpperCase() + title.slice(1);
  const values = [...new Set(settings.map((setting) => String(setting[name])))].sort((one, other) =>
    one.localeCompare(other, "en", { numeric: true }),
  );
  const select = make(
    "select",
    { "aria-label": heading, onchange: () => update({ [keyOf(name)]: select.value }) },
    make("option", { value: "" }, "any"),
    ...values.map((value) => make("option", { value }, WORDS[name]?.[value] ?? value)),
  );
  const refresh = () => (select.value = state[keyOf(name)]);
  refresh();
  return { element: make("label", {}, make("span", {}, heading), select), refresh };
}

/** A setting in words, without its training length; what all settings share is left out, and a number has its name. */
export function groupTitle(setting, run) {
  const more = tellingFields(run).filter(({ name }) => !["task", "bias", "train_length"].includes(name));
  const words = more.map(({ name, title }) =>
    typeof setting[name] === "number" ? `${title} ${setting[name]}` : setting[name],
  );
  return [`${setting.task} ${setting.bias ? "with" : "without"} bias`, ...words].join(", ");
}

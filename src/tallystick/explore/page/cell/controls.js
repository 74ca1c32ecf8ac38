// Choosing a network: presets, kind of cell, readout and arithmetic, and each number by slider or exactly.

import { Refused, once } from "../api.js";
import { labelled, make } from "../dom.js";
import {
  NETWORK_KEYS,
  cellNamed,
  cellNumbers,
  choices,
  readoutNamed,
  readoutNumbers,
  stateOf,
} from "../network.js";
import { onChange, state, update } from "../state.js";
import { numberField } from "./number_field.js";

export function controlsPanel() {
  const complaint = make("p", { class: "complaint", role: "alert" });
  const numbers = make("div", { class: "numbers" });
  const reading = make("div", { class: "numbers" });
  let fields = [];

  function rebuild() {
    fields = [cellNumbers(), readoutNumbers()].map((group) => group.map(numberField));
    numbers.replaceChildren(...fields[0].map(({ element }) => element));
    reading.replaceChildren(...fields[1].map(({ element }) => element));
    fields = fields.flat();
    steps.replaceChildren(
      ...cellNamed(state.cell).steps.map((next, place) =>
        make("span", {}, make("code", {}, "()"[place]), ` h → ${next}`),
      ),
    );
    formulas.replaceChildren(
      ...readoutNamed(state.readout).classes.map(({ name, formula }) =>
        make("span", {}, `${name}: `, ...labelled(formula)),
      ),
    );
  }

  /** Put the server's line at the field it names; say whether it was about the network at all. */
  function complain(message) {
    complaint.textContent = "";
    for (const field of fields) field.complain("");
    if (!message) return false;
    const field = fields.find(({ names }) => names(message));
    if (field) field.complain(message);
    else if (/^(network|cell|readout|arithmetic|recurrent_weight)\b/.test(message)) complaint.textContent = message;
    else return false;
    return true;
  }

  const kind = choice("Kind of cell", "cell", choices.cells);
  const steps = make("p", { class: "step-formula" });
  const formulas = make("p", { class: "step-formula" });
  const readout = choice("Readout", "readout", choices.readouts);
  const arithmetic = choice("Arithmetic", "arithmetic", choices.arithmetics);
  onChange(["cell", "readout"], rebuild);
  onChange(NETWORK_KEYS, () => {
    for (const field of fields) field.refresh();
    for (const select of [kind, readout, arithmetic]) select.refresh();
  });

  rebuild();

  const element = make(
    "form",
    { class: "controls", "aria-label": "The network", onsubmit: (event) => event.preventDefault() },
    presets(),
    make("fieldset", {}, make("legend", {}, "Cell"), kind.element, steps, numbers),
    make("fieldset", {}, make("legend", {}, "Readout"), readout.element, formulas, reading),
    make("fieldset", {}, make("legend", {}, "Arithmetic"), arithmetic.element),
    complaint,
    make(
      "p",
      { class: "soft" },
      "Fields take decimals, fractions such as 1/3 and hex floats such as 0x1p-3, each read exactly.",
    ),
  );
  return { element, complain };
}

function choice(label, key, list) {
  const options = list.map(({ name, title }) => make("option", { value: name }, title));
  const select = make("select", { "aria-label": label, onchange: () => update({ [key]: select.value }) }, ...options);
  const refresh = () => (select.value = state[key]);
  refresh();
  return { element: select, refresh };
}

function presets() {
  const list = make("div", { class: "chips" });
  const text = make("p", { class: "soft", "aria-live": "polite" });
  once("api/presets")
    .then((found) => {
      list.append(
        ...found.map((preset) => {
          const load = () => {
            text.textContent = preset.text;
            update({
              ...stateOf(preset.network, preset.arithmetic),
              ...(preset.string && { string: preset.string, step: "" }),
            });
          };
          return make("button", { type: "button", class: "chip", title: preset.text, onclick: load }, preset.title);
        }),
      );
    })
    .catch((error) => {
      if (!(error instanceof Refused)) throw error;
      text.textContent = error.message;
    });
  return make("fieldset", {}, make("legend", {}, "Start from"), list, text);
}

// The network between the address and the server: which numbers a cell and a readout have, and under which names.

import { once } from "./api.js";
import { roughly, shown, signed } from "./numbers.js";
import { addKeys, state, update } from "./state.js";

export const NETWORK_KEYS = ["cell", "a", "b", "U", "P", "Q", "readout", "v", "c", "weights", "biases", "arithmetic"];

const LONGEST_SHOWN = 9;

/** What there is to choose from, as the library's own tables have it: cells, readouts, arithmetics, kinds of strings. */
export let choices = null;

/** Ask for the choices, before any view is built; a cell may have letters that no other has. */
export async function loadChoices() {
  choices ??= await once("api/choices");
  const letters = choices.cells.flatMap(({ weights }) => weights.map(({ letter }) => letter));
  const added = letters.filter((letter) => !NETWORK_KEYS.includes(letter));
  NETWORK_KEYS.push(...added);
  addKeys(added, "1");
}

const named = (list, name) => list.find((each) => each.name === name);

/** The cell of that name; one that is not known is taken for the first, and the server says what is wrong. */
export const cellNamed = (name) => named(choices.cells, name) ?? choices.cells[0];
export const readoutNamed = (name) => named(choices.readouts, name) ?? { name, outputs: 0, classes: [] };

/** The numbers of the present cell: letter, what it does, and the field's name in the server's complaints. */
export function cellNumbers() {
  return cellNamed(state.cell).weights.map((weight) => plain(weight, 2));
}

/** The numbers of the present readout. */
export function readoutNumbers() {
  const { outputs, classes } = readoutNamed(state.readout);
  if (outputs === 1) {
    return [
      plain({ letter: "v", field: "readout: weight[0]", doing: "the readout's factor on h" }, 4),
      plain({ letter: "c", field: "readout: bias[0]", doing: "the readout's bias" }, 4),
    ];
  }
  return Array.from({ length: outputs }, (_, index) => [
    listed("weights", index, "v", "weight", `factor of the output ${classes[index].name}`),
    listed("biases", index, "c", "bias", `bias of the output ${classes[index].name}`),
  ]).flat();
}

function plain({ letter, field, doing }, limit) {
  return {
    letter,
    field,
    doing,
    limit,
    read: () => state[letter],
    write: (text) => update({ [letter]: text }),
  };
}

function listed(key, index, letter, field, doing) {
  return {
    letter: `${letter} ${readoutNamed(state.readout).classes[index].name}`,
    field: `readout: ${field}[${index}]`,
    doing,
    limit: 4,
    read: () => entries(key)[index],
    write: (text) => update({ [key]: entries(key).with(index, text.replaceAll(",", "")).join(",") }),
  };
}

const entries = (key) =>
  Array.from({ length: readoutNamed(state.readout).outputs }, (_, index) => state[key].split(",")[index] ?? "0");

/** A question about the present network: the model document, the arithmetic beside it, and what else is asked. */
export function question(more = {}) {
  return { network: network(), arithmetic: state.arithmetic, ...more };
}

/** The present network as a model file holds it. */
export function network() {
  const document = { cell: state.cell };
  for (const { letter, name, place } of places(state.cell)) {
    if (place === null) document[name] = state[letter];
    else (document[name] ??= [])[place] = state[letter];
  }
  return { ...document, readout: readout() };
}

/** Where each letter of a cell stands in its document: recurrent_weight[1] is the second of a list. */
function places(cell) {
  return cellNamed(cell).weights.map(({ letter, field }) => {
    const [name, place = null] = field.split(/[[\]]/);
    return { letter, name, place };
  });
}

function readout() {
  const { outputs } = readoutNamed(state.readout);
  if (!outputs) return { kind: state.readout };
  if (outputs === 1) return { kind: state.readout, weight: [state.v], bias: [state.c] };
  return { kind: state.readout, weight: entries("weights"), bias: entries("biases") };
}

/** The changes of state that make a model document the present network. */
export function stateOf(document, arithmetic = "real") {
  const { kind, weight, bias = weight?.map(() => "0") } = document.readout;
  const changes = { cell: document.cell, readout: kind, arithmetic };
  for (const { letter, name, place } of places(document.cell))
    changes[letter] = place === null ? document[name] : document[name][place];
  if (weight?.length === 1) [changes.v, changes.c] = [weight[0], bias[0]];
  else if (weight) [changes.weights, changes.biases] = [weight.join(","), bias.join(",")];
  return changes;
}

/** "= 1/3", and "≈ 0.719421" where the exact number is long. */
export function inShort(text) {
  const rough = roughly(text);
  return text.length <= LONGEST_SHOWN || rough === null ? `= ${signed(text)}` : `≈ ${shown(rough)}`;
}

/** The present network in a line. */
export function networkLine() {
  const { title, weights } = cellNamed(state.cell);
  const numbers = weights.map(({ letter }) => `${letter} ${inShort(state[letter])}`);
  return `${title} cell, ${numbers.join(", ")}`;
}

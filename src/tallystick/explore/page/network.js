// The network between the address and the server: which numbers a cell and a readout have, and under which names.

import { roughly, shown, signed } from "./numbers.js";
import { state, update } from "./state.js";

export const NETWORK_KEYS = ["cell", "a", "b", "U", "P", "Q", "readout", "v", "c", "weights", "biases", "arithmetic"];

export const CELLS = { linear: "linear", selective: "selective", relu: "ReLU", tanh: "tanh" };
export const READOUTS = {
  zero: "zero check: h = 0",
  binary: "binary: v·h + c > 0",
  ternary: "ternary: the largest of three",
};
const FLOATS = ["float16", "bfloat16", "float32", "float64"];
export const ARITHMETICS = {
  real: "real numbers",
  ...Object.fromEntries(
    FLOATS.flatMap((name) => [
      [name, name],
      [`${name}-fused`, `${name}, fused multiply-add`],
    ]),
  ),
};

/** What becomes of h at ( and at ). */
export const STEPS = {
  linear: ["U·h + a", "U·h + b"],
  selective: ["P·h + a", "Q·h + b"],
  relu: ["max(0, U·h + a)", "max(0, U·h + b)"],
  tanh: ["tanh(U·h + a)", "tanh(U·h + b)"],
};

const LONGEST_SHOWN = 9;
const CLASSES = ["Neg", "Zero", "Pos"];
const DOING = {
  a: "what ( adds",
  b: "what ) adds",
  U: "the factor on h",
  P: "the factor on h at (",
  Q: "the factor on h at )",
};

const recurrentLetters = () => (state.cell === "selective" ? ["P", "Q"] : ["U"]);

/** The numbers of the present cell: letter, what it does, and the field's name in the server's complaints. */
export function cellNumbers() {
  const fields =
    state.cell === "selective"
      ? { a: "open_step", b: "close_step", P: "recurrent_weight[0]", Q: "recurrent_weight[1]" }
      : { a: "open_step", b: "close_step", U: "recurrent_weight" };
  return Object.entries(fields).map(([letter, field]) => ({
    letter,
    field,
    doing: DOING[letter],
    limit: 2,
    read: () => state[letter],
    write: (text) => update({ [letter]: text }),
  }));
}

/** The numbers of the present readout. */
export function readoutNumbers() {
  if (state.readout === "binary") {
    const plain = (letter, field, doing) => ({
      letter,
      field,
      doing,
      limit: 4,
      read: () => state[letter],
      write: (text) => update({ [letter]: text }),
    });
    return [
      plain("v", "readout: weight[0]", "the readout's factor on h"),
      plain("c", "readout: bias[0]", "the readout's bias"),
    ];
  }
  if (state.readout === "ternary") {
    return CLASSES.flatMap((name, index) => [
      listed("weights", index, `v ${name}`, `readout: weight[${index}]`, `factor of the output ${name}`),
      listed("biases", index, `c ${name}`, `readout: bias[${index}]`, `bias of the output ${name}`),
    ]);
  }
  return [];
}

function listed(key, index, letter, field, doing) {
  return {
    letter,
    field,
    doing,
    limit: 4,
    read: () => entries(key)[index],
    write: (text) => update({ [key]: entries(key).with(index, text.replaceAll(",", "")).join(",") }),
  };
}

const entries = (key) => Array.from(CLASSES, (_, index) => state[key].split(",")[index] ?? "0");

/** A question about the present network: the model document, the arithmetic beside it, and what else is asked. */
export function question(more = {}) {
  return { network: network(), arithmetic: state.arithmetic, ...more };
}

/** The present network as a model file holds it. */
export function network() {
  const recurrent = recurrentLetters().map((letter) => state[letter]);
  return {
    cell: state.cell,
    open_step: state.a,
    close_step: state.b,
    recurrent_weight: recurrent.length > 1 ? recurrent : recurrent[0],
    readout: readout(),
  };
}

function readout() {
  if (state.readout === "binary") return { kind: "binary", weight: [state.v], bias: [state.c] };
  if (state.readout === "ternary") return { kind: "ternary", weight: entries("weights"), bias: entries("biases") };
  return { kind: state.readout };
}

/** The changes of state that make a model document the present network. */
export function stateOf(document, arithmetic = "real") {
  const { cell, open_step: a, close_step: b, recurrent_weight: recurrent, readout: reading } = document;
  const changes = { cell, a, b, readout: reading.kind, arithmetic };
  if (Array.isArray(recurrent)) [changes.P, changes.Q] = recurrent;
  else changes.U = recurrent;
  if (reading.kind === "binary") [changes.v, changes.c] = [reading.weight[0], reading.bias?.[0] ?? "0"];
  if (reading.kind === "ternary")
    [changes.weights, changes.biases] = [reading.weight.join(","), (reading.bias ?? [0, 0, 0]).join(",")];
  return changes;
}

/** "= 1/3", and "≈ 0.719421" where the exact number is long. */
export function inShort(text) {
  const rough = roughly(text);
  return text.length <= LONGEST_SHOWN || rough === null ? `= ${signed(text)}` : `≈ ${shown(rough)}`;
}

/** The present network in a line. */
export function networkLine() {
  const numbers = ["a", "b", ...recurrentLetters()].map((letter) => `${letter} ${inShort(state[letter])}`);
  return `${CELLS[state.cell] ?? state.cell} cell, ${numbers.join(", ")}`;
}

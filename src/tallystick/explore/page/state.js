// All that a view shows, in one flat record of strings that is also the address: what is shared is what is seen.

const DEFAULTS = {
  view: "cell",
  // the network
  cell: "linear",
  a: "1",
  b: "-1",
  U: "0.99",
  P: "1",
  Q: "1",
  readout: "binary",
  v: "2",
  c: "-1",
  weights: "-2,0,2",
  biases: "-1,0,-1",
  arithmetic: "real",
  // the string, and how much of it is read
  string: "((()))",
  step: "",
  longest: "20",
  // the network, as a model file holds it, and the file's name; empty is the first preset
  model: "",
  name: "",
  // the string that it reads, empty is a failing one; how much of it is read; the layer that is shown, empty is the uppermost
  tokens: "",
  at: "",
  layer: "",
  // the run: filters (empty is any), window, what is drawn
  edition: "",
  task: "",
  bias: "",
  length: "",
  method: "",
  precision: "",
  trained: "",
  x0: "",
  x1: "",
  y0: "",
  y1: "",
  regions: "all",
  column: "",
  paths: "",
  epoch: "",
  // the table and the proof
  printed: "",
  theorem: "",
};
const VIEWS = ["cell", "network", "run", "table", "proof"];
const LONGEST_MODEL = 30_000; // characters of a network in an address; many programs cut longer ones
const MARK = "~"; // a network that the address does not hold: this and its sum
const WRITE_AFTER = 150; // ms: browsers refuse an address that changes a hundred times in a few seconds

export const state = { ...DEFAULTS };
const listeners = [];
let writing = 0;

/** Let the address hold further keys: what tells a run's settings apart, where empty is any, or the letters of a cell. */
export function addKeys(keys, value = "") {
  const added = keys.filter((key) => !(key in DEFAULTS));
  if (!added.length) return;
  for (const key of added) DEFAULTS[key] = state[key] = value;
  readAddress();
}

/** Call `listener` after a change of one of the keys; "*" is any. */
export function onChange(keys, listener) {
  listeners.push({ keys, listener });
}

/** Change the state, tell whoever listens, and write the address; a change of view is a step that Back undoes. */
export function update(changes) {
  const changed = apply(changes);
  if (!changed.length) return;
  clearTimeout(writing);
  if (changed.includes("view")) history.pushState(null, "", addressWith({}));
  else writing = setTimeout(() => history.replaceState(null, "", addressWith({})), WRITE_AFTER);
  tell(changed);
}

/** The address of the present state with some changes. */
export function addressWith(changes) {
  const wanted = { ...state, ...changes };
  const parts = Object.keys(DEFAULTS)
    .filter((key) => key === "view" || wanted[key] !== DEFAULTS[key])
    .map((key) => `${key}=${key === "model" ? heldModel(wanted.model) : encoded(wanted[key])}`);
  return `#${parts.join("&")}`;
}

/** Take the state from the address; what it does not say is as at the beginning. */
export function readAddress() {
  const found = { ...DEFAULTS };
  for (const part of location.hash.slice(1).split("&")) {
    const [key, value = ""] = part.split("=", 2);
    if (key in DEFAULTS) found[key] = decoded(value);
  }
  if (isMark(found.model)) found.model = recalled(found.model);
  if (!VIEWS.includes(found.view)) found.view = DEFAULTS.view;
  clearTimeout(writing);
  tell(apply(found));
}

/** Whether an address of the present state restores all of it. */
export const isHeld = () => !isMark(heldModel(state.model));

/** Whether this stands for a network that an address did not hold. */
export const isMark = (model) => model.startsWith(MARK);

const encoded = (text) => encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3A", ":");

/** A network as the address has it: itself, or a mark that this window can still look up, after a reload too. */
function heldModel(model) {
  const text = encoded(model);
  if (text.length <= LONGEST_MODEL) return text;
  const mark = `${MARK}${sumOf(model)}`;
  if (!kept.has(mark)) {
    kept.set(mark, model);
    try {
      sessionStorage.setItem(mark, model);
    } catch {
      // A reload will not find it.
    }
  }
  return mark;
}

function recalled(mark) {
  try {
    return kept.get(mark) ?? sessionStorage.getItem(mark) ?? mark;
  } catch {
    return mark;
  }
}

const kept = new Map();

/** A short sum of a text (FNV-1a), by which two are told apart. */
function sumOf(text) {
  let sum = 0x811c9dc5;
  for (let place = 0; place < text.length; place += 1) sum = Math.imul(sum ^ text.charCodeAt(place), 0x01000193) >>> 0;
  return `${text.length.toString(36)}-${sum.toString(36)}`;
}

function apply(changes) {
  const changed = Object.keys(changes).filter((key) => state[key] !== String(changes[key]));
  for (const key of changed) state[key] = String(changes[key]);
  return changed;
}

function tell(changed) {
  for (const { keys, listener } of listeners) {
    if (keys.some((key) => (key === "*" ? changed.length : changed.includes(key)))) listener(changed);
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

// A string on a network of any kind, token by token: a layer's units as lines, its gates as bands, the answer and what is right.

import { inLine, post } from "../api.js";
import { stepPlayer } from "../cell/player.js";
import { tokenStrip } from "../cell/steps.js";
import { stepAt } from "../cell/trace_chart.js";
import { chart } from "../charts/frame.js";
import { calm, debounced, make } from "../dom.js";
import { shown } from "../numbers.js";
import { onChange, state, update } from "../state.js";
import { onColours } from "../theme.js";
import { LINES_HEIGHT, gatesHeight, paintGates, paintLines } from "./layer_charts.js";
import { answerTable } from "./answer_table.js";

const WAIT = 200;
const MOST_TOKENS = 600,
  MOST_LISTED = 6;

/** What is shown at present; whatever changes the state or the colours tells it. */
let present = null;
onColours(() => present?.show());
onChange(["at"], () => present?.show());
onChange(["tokens", "layer"], () => present?.readLater());

/** The panel; `found` says what the network is, and `text` is its document. */
export function stringPanel(found, text) {
  const separator = found.alphabet.every((token) => token.length === 1) ? "" : " ";
  const complaint = make("p", { class: "complaint", role: "alert", id: "tokens-complaint" });
  const said = make("p", { class: "said", role: "status" });
  const origin = make("p", { class: "soft" });
  const listed = make("p", { class: "soft units" });
  const exactness = make("p", { class: "soft" });
  const strip = tokenStrip((step) => go(step));
  const table = answerTable();
  const pictures = make("div", { class: "layer" });
  const line = inLine();
  const field = make("input", {
    type: "text",
    class: "brackets",
    "aria-label": "String of tokens",
    "aria-describedby": "tokens-complaint",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    oninput: () => update({ tokens: tokensOf(field.value).join(separator), at: "" }),
  });
  let reading = null,
    asked = "",
    drawn = [],
    usual = found.tokens,
    origins = "A string to begin with.",
    playNext = false;

  const tokensOf = (written) => (separator ? written.split(/\s+/).filter(Boolean) : [...written.replace(/\s+/g, "")]);
  const wanted = () => (state.tokens === "" ? usual : tokensOf(state.tokens));
  const steps = () => reading?.tokens.length ?? 0;
  const current = () =>
    state.at === "" ? steps() : Math.max(0, Math.min(steps(), Math.round(Number(state.at)) || 0));
  const go = (step) => update({ at: step >= steps() ? "" : String(Math.max(0, step)) });
  const player = stepPlayer({ steps, current, go });
  const readLater = debounced(read, WAIT);

  function read() {
    const tokens = wanted();
    if (document.activeElement !== field) field.value = tokens.join(separator);
    select.value = state.layer === "" ? found.layers.length : state.layer;
    const present = JSON.stringify([tokens, state.layer]);
    if (present === asked && reading) {
      if (playNext) start();
      return;
    }
    player.stop();
    asked = present;
    if (tokens.length > MOST_TOKENS) {
      complaint.textContent = `String: ${tokens.length} tokens; at most ${MOST_TOKENS} are read here.`;
      return;
    }
    const layer = state.layer === "" ? "" : `, "layer": ${Number(state.layer) - 1}`;
    const question = `{"network": ${text}, "tokens": ${JSON.stringify(tokens)}${layer}}`;
    line((signal) => post("api/reading", question, signal), {
      done(answer) {
        complaint.textContent = "";
        const good = answer.right.map((right, step) => right === null || right === answer.says[step]);
        reading = { ...answer, good };
        origin.textContent = state.tokens === "" ? origins : "";
        strip.fill({ string: answer.tokens, right: good });
        table.fill(reading);
        exactness.textContent =
          answer.arithmetic === "rational" ? "The states are exact." : "The states are shown in float64.";
        redraw();
        if (playNext) start();
      },
      failed(message) {
        [playNext, asked] = [false, ""];
        complaint.textContent = message.replace(/^tokens\b/, "String");
      },
    });
  }

  /** Charts for what the layer has: its units, an LSTM's memory, its gates. */
  function redraw() {
    const charts = [["h", "Units h", reading.units]];
    if (reading.memory) charts.push(["c", "Memory c", reading.memory]);
    drawn = charts.map(([letter, title, values]) => {
      const picture = chart({ label: title, height: LINES_HEIGHT, paint: paintLines, name: letter === "h" ? "units" : "memory" });
      return { picture, title, data: (step) => ({ values, good: reading.good, step, letter }) };
    });
    if (reading.gates.length) {
      const height = gatesHeight(reading.gates);
      const picture = chart({ label: "Gates", height, paint: paintGates, name: "gates" });
      drawn.push({ picture, title: "Gates", data: (step) => ({ gates: reading.gates, step, last: steps() }) });
    }
    pictures.replaceChildren(
      ...drawn.map(({ picture, title }) => make("figure", {}, make("h3", {}, title), picture.element)),
    );
    for (const { picture } of drawn) {
      picture.svg.addEventListener("pointerdown", (event) => go(stepAt(picture.svg, event, steps())));
      picture.svg.addEventListener("pointermove", (event) => {
        if (event.buttons & 1) go(stepAt(picture.svg, event, steps()));
      });
    }
    show();
  }

  function show() {
    if (!reading) return;
    const step = current();
    player.refresh(`${step} of ${steps()} tokens: says ${reading.says[step]}`);
    strip.mark(step);
    said.replaceChildren(...sentence(reading, step, found.answer));
    listed.textContent = numbersAt(reading, step);
    for (const { picture, title, data } of drawn) picture.update(data(step), `${title}. ${described(reading)}`);
  }

  function start() {
    playNext = false;
    if (calm()) go(steps());
    else player.start();
  }

  const select = layerSelect(found);
  present = { show, readLater };
  read();
  const element = make(
    "section",
    { class: "panel", "aria-label": "A string" },
    make("h2", {}, "A string, token by token"),
    make("p", { class: "soft" }, `Task ${found.task}, answer “${found.answer}”, tokens ${found.alphabet.join(" ")}`),
    make("div", { class: "row" }, field),
    complaint,
    origin,
    strip.element,
    player.element,
    said,
    make("div", { class: "row", hidden: found.layers.length < 2 }, select),
    pictures,
    listed,
    make(
      "p",
      { class: "soft" },
      "One line per unit, with its number where they are few. A cross on the axis stands where the answer is wrong.",
      found.layers.some(({ gates }) => gates.length)
        ? " One row per unit in each gate: the fuller the colour, the nearer to 1; orange is below 0."
        : "",
    ),
    exactness,
    table.element,
  );
  return {
    element,
    stop() {
      player.stop();
      line.stop();
      present = null;
    },
    /** The string to show where none was typed: a failing one, once it is known. */
    suggest(tokens, words) {
      if (tokens.length > MOST_TOKENS) return;
      [usual, origins] = [tokens, words];
      if (state.tokens === "") read();
    },
    /** Play a string from its beginning; for who wants little motion, its end is shown. */
    play(tokens) {
      const written = tokens.join(separator);
      update({ tokens: tokens.join("\0") === usual.join("\0") ? "" : written, at: "0" });
      element.scrollIntoView({ block: "start", behavior: calm() ? "instant" : "smooth" });
      playNext = true;
      read();
    },
  };
}

/** A choice of the layer; the uppermost is what the readout sees. */
function layerSelect({ layers }) {
  const options = layers.map(({ cell, units }, place) =>
    make("option", { value: place + 1 }, `layer ${place + 1}: ${cell}, ${units} ${units === 1 ? "unit" : "units"}`),
  );
  const choose = () => update({ layer: Number(select.value) === layers.length ? "" : select.value });
  const select = make("select", { "aria-label": "Layer", onchange: choose }, ...options);
  return select;
}

function sentence({ says, right, good, tokens }, step, answer) {
  const after = step === 0 ? "Before the first token" : `After ${step} of ${tokens.length} tokens`;
  const asks = answer === "next" || answer === "support" ? ` the next is ` : ` the answer is `;
  return [
    `${after}${asks}`,
    make("b", {}, says[step]),
    ": ",
    make(
      "b",
      { class: good[step] ? "good" : "bad" },
      right[step] === null ? "nothing is asked here" : good[step] ? "right" : "wrong",
    ),
    good[step] ? "." : `; it should be ${right[step]}.`,
  ];
}

function numbersAt({ units, memory, gates }, step) {
  const parts = [["h", units[step]]];
  if (memory) parts.push(["c", memory[step]]);
  if (step) parts.push(...gates.map(({ letter, values }) => [letter, values[step - 1]]));
  return parts.map(([letter, values]) => `${letter}: ${listOf(values)}`).join(" · ");
}

function listOf(values) {
  const written = values.slice(0, MOST_LISTED).map((value) => (value === null ? "∞" : shown(value, 4)));
  return `${written.join(", ")}${values.length > MOST_LISTED ? ", …" : ""}`;
}

function described({ tokens, good }) {
  return `After each of ${tokens.length} tokens; the answer is wrong after ${good.filter((one) => !one).length}.`;
}

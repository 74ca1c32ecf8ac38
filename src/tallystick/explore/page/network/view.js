// The view "A network": a network of any kind as its file holds it, its verdict in words, a string on it, and pictures.

import { Refused, inLine, once, post } from "../api.js";
import { LENGTHS, horizon, sentence } from "../cell/verdict.js";
import { debounced, make } from "../dom.js";
import { isMark, onChange, state, update } from "../state.js";
import { livePanel } from "./live_panel.js";
import { documentOf, opened, openingControls } from "./opening.js";
import { outputPanel } from "./pictures.js";
import { stringPanel } from "./string_panel.js";

const WAIT = 250;
const TOO_LONG = "no answer within"; // as the server says it
const SHORT_SEARCH = 40;

export async function build(section) {
  let presets;
  try {
    presets = await once("api/network-presets");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    section.append(make("p", { class: "complaint", role: "alert" }, error.message));
    return;
  }
  // A file that the command opened is no preset of other servers, so the address must hold it.
  if (state.model === "" && presets[0].file) update(opened(presets[0].file, presets[0].title));
  const controls = openingControls(presets, section);
  const findings = make("div", { class: "findings" });
  const line = inLine();
  let leave = () => {};

  function refuse(message) {
    controls.complain(message);
    leave();
    findings.replaceChildren(make("p", { class: "empty" }, "No network is open: its document is refused, as said beside it."));
  }

  function ask() {
    const text = state.model || documentOf(presets[0]);
    if (isMark(text)) {
      controls.area.value = "";
      refuse(`The address does not hold ${state.name || "its network"}, which is too large for one; open its file.`);
      return;
    }
    if (controls.area.value !== text) controls.area.value = text;
    try {
      JSON.parse(text);
    } catch (error) {
      refuse(`network: not JSON (${error.message})`);
      return;
    }
    // The text itself is sent: this language's numbers would lose digits.
    line((signal) => post("api/network", `{"network": ${text}}`, signal), {
      done(found) {
        controls.complain("");
        leave();
        leave = show(found, text, findings);
      },
      failed: refuse,
    });
  }

  onChange(["model"], debounced(ask, WAIT));
  section.append(make("div", { class: "bench" }, controls.element, findings));
  ask();
}

/** Show a network: each panel asks for itself, so that none waits for another. Returns how to leave it. */
function show(found, text, findings) {
  const string = stringPanel(found, text);
  const outputs = make("div", {});
  const verdict = verdictPanel(found, text, string);
  findings.replaceChildren(verdict.element, string.element, outputs);
  const line = inLine();
  const live = found.has_steps ? livePanel(found, text) : null;
  if (found.has_picture) {
    line((signal) => post("api/linear", `{"network": ${text}}`, signal), {
      done: (drawn) => outputs.replaceChildren(...drawn.outputs.map((output) => outputPanel(output, drawn.failing_length))),
      failed: (message) => outputs.replaceChildren(make("p", { class: "soft" }, message)),
    });
  }
  if (live) findings.append(live.element);
  return () => {
    for (const panel of [string, verdict, line, live]) panel?.stop();
  };
}

function verdictPanel(found, text, string) {
  const horizons = make("div", { class: "horizons" });
  const summary = make("p", { class: "summary", role: "status" }, "Deciding …");
  const play = make("button", { type: "button", hidden: true }, "▶ Play the failing string");
  const element = make(
    "section",
    { class: "panel verdict-panel", "aria-label": "Verdict", "aria-busy": "true" },
    make("h2", {}, "Verdict"),
    make("p", { class: "soft" }, whatItIs(found)),
    horizons,
    make("div", { class: "row" }, play),
    summary,
  );
  const said = {};
  const lines = found.lengths.map((lengths) => {
    const place = make("div", {}, make("p", { class: "soft" }, `Deciding ${LENGTHS[lengths]} …`));
    horizons.append(place);
    const line = inLine();
    const note = (words) => {
      said[lengths] = words;
      if (found.lengths.some((each) => !(each in said))) return;
      summary.textContent = found.lengths.map((each) => said[each]).join(" · ");
      element.removeAttribute("aria-busy");
    };
    line((signal) => judgement(text, lengths, signal), {
      done(verdict) {
        place.replaceChildren(horizon(lengths, verdict, string.play));
        if (lengths === "all") offer(verdict);
        note(sentence(lengths, verdict));
      },
      failed(message) {
        place.replaceChildren(make("h3", {}, `Right on all strings, ${LENGTHS[lengths]}`), make("p", { class: "complaint" }, message));
        note(`${LENGTHS[lengths]}: no verdict`);
      },
    });
    return line;
  });

  function offer({ failing_tokens: tokens, shortest }) {
    if (!tokens) return;
    string.suggest(tokens, shortest ? "A shortest string on which it fails." : "A string on which it fails.");
    play.hidden = false;
    play.addEventListener("click", () => string.play(tokens));
  }

  return { element, stop: () => lines.forEach((line) => line.stop()) };
}

/** Ask for a verdict; where it takes too long, for one that is searched for less far. */
async function judgement(text, lengths, signal) {
  const ask = (more) => post("api/judgement", `{"network": ${text}, "lengths": "${lengths}"${more}}`, signal);
  try {
    return await ask("");
  } catch (error) {
    if (!(error instanceof Refused && error.message.startsWith(TOO_LONG))) throw error;
    return ask(`, "upto": ${SHORT_SEARCH}`);
  }
}

/** A network in a line: its layers and its task. */
function whatItIs({ layers, task }) {
  const words = layers.map(({ cell, units }) => `${cell}, ${units} ${units === 1 ? "unit" : "units"}`);
  const name = state.name ? `${state.name}: ` : "";
  return `${name}${layers.length > 1 ? `${layers.length} layers (${words.join("; ")})` : words[0]}; task ${task}`;
}

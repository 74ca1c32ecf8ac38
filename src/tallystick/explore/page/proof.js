// The view "The proof": theorems, their steps, what the solver and Coq say, and each string played on the current cell.

import { Refused, inLine, once, post } from "./api.js";
import { calm, make } from "./dom.js";
import { NETWORK_KEYS, network, networkLine } from "./network.js";
import { shown, signed } from "./numbers.js";
import { addressWith, onChange, state, update } from "./state.js";

const BEAT = 380;

export async function build(section) {
  const waiting = make("p", { class: "soft", role: "status" }, "The solver goes through every step; the first time takes a moment.");
  section.append(waiting);
  try {
    const { theorems, coq_only: coqOnly = [] } = await once("api/theorem");
    waiting.remove();
    section.append(...panels(theorems, coqOnly));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    waiting.className = "complaint";
    waiting.textContent = error.message;
  }
}

function panels(theorems, coqOnly) {
  const current = make("p", { class: "current" });
  const place = make("div");
  const links = theorems.map(({ name, title }) => make("a", { "data-theorem": name }, title));

  function showCell() {
    current.replaceChildren("The current cell: ", make("b", {}, networkLine()), ". Strings are read by the zero check, h = 0, as the theorems do. ",
      make("a", { href: addressWith({ view: "cell" }) }, "Change it"));
    for (const link of links) link.href = addressWith({ theorem: link.dataset.theorem });
  }
  function showTheorem() {
    const chosen = theorems.find(({ name }) => name === state.theorem) ?? theorems[0];
    for (const link of links) {
      if (link.dataset.theorem === chosen.name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    place.replaceChildren(theoremArticle(chosen));
  }
  onChange(["*"], showCell);
  onChange([...NETWORK_KEYS, "theorem"], showTheorem);
  showCell();
  showTheorem();
  return [
    current,
    make("div", { class: "proof" },
      make("nav", { class: "theorems", "aria-label": "Theorems" }, ...links),
      make("div", {}, place, coqOnly.length ? inCoqAlone(coqOnly) : "")),
  ];
}

function theoremArticle({ title, statement, parts, coq }) {
  return make("article", { class: "theorem" },
    make("h2", {}, title),
    make("p", { class: "statement" }, ...inCode(statement)),
    coqLine(coq),
    ...parts.flatMap((part) => [make("h3", {}, part.title), make("ol", { class: "steps" }, ...part.steps.map(stepItem))]),
  );
}

function stepItem(step) {
  const played = make("div", { class: "played", role: "status" });
  const string = step.string
    ? make("button", { type: "button", class: "string-link", onclick: () => play(step.string, played), "aria-label": `Play ${step.string} on the current cell` },
      make("span", { "aria-hidden": "true" }, "▶ "), step.string)
    : "";
  return make("li", {},
    make("span", { class: `badge ${(step.verdict ?? "").toLowerCase()}` }, word(step)),
    make("div", {},
      make("p", {}, string, step.state ? make("span", { class: "state" }, ` h = ${signed(step.state)}`) : "", string ? " " : "", make("span", { class: "claim" }, ...inCode(step.claim))),
      step.reason ?? step.finding ? make("p", { class: "soft" }, ...inCode(step.reason ?? step.finding)) : "",
      played));
}

/** The solver's word, or whose word it is instead. */
function word({ verdict, proved_by: by }) {
  if (!verdict) return by === "argument" ? "ARGUED" : "NOT RUN";
  return verdict === "PROVED" ? "PROVED BY Z3" : verdict;
}

const lines = new WeakMap();

/** Read a string token by token on the current cell, h after each, and say whether the zero check is right. */
function play(string, place) {
  if (!lines.has(place)) lines.set(place, { ask: inLine(), clock: 0 });
  const own = lines.get(place);
  clearInterval(own.clock);
  const question = { network: { ...network(), readout: { kind: "zero" } }, arithmetic: state.arithmetic, string };
  own.ask((signal) => post("api/trace", question, signal), {
    done(trace) {
      const last = trace.states.length - 1;
      let step = calm() ? last : 1;
      const show = () => place.replaceChildren(...tokens(trace, step), ...(step === last ? ending(trace, string) : []));
      show();
      own.clock = setInterval(() => {
        if (step >= last) clearInterval(own.clock);
        else {
          step += 1;
          show();
        }
      }, BEAT);
    },
    failed: (message) => place.replaceChildren(make("span", { class: "complaint" }, message)),
  });
}

function tokens({ string, states, exact }, step) {
  return [...string].slice(0, step).map((token, index) =>
    make("span", { class: "play-token" }, make("code", {}, token), make("span", {}, exact?.[index + 1] && exact[index + 1].length < 14 ? signed(exact[index + 1]) : shown(states[index + 1]))));
}

function ending({ classes, expected, right }, string) {
  const last = classes.length - 1;
  const verdict = right[last] ? "right" : `wrong, it should be ${expected[last]}`;
  return [
    make("span", {}, make("b", {}, classes[last]), ": ", make("b", { class: right[last] ? "good" : "bad" }, verdict), ". "),
    make("button", { type: "button", class: "quiet", onclick: () => update({ view: "cell", readout: "zero", string, step: "" }) }, "Look closer"),
  ];
}

function coqLine(coq) {
  if (!coq?.length) return make("p", { class: "soft" }, "Not in Coq: the solver's word alone.");
  return make("p", { class: "soft coq" }, "In Coq: ", ...coq.flatMap(({ file, line, theorem }, place) => [place ? ", " : "", make("code", {}, theorem), ` (${file}:${line})`]), ".");
}

function inCoqAlone(results) {
  return make("article", { class: "theorem" },
    make("h2", {}, "In Coq alone"),
    ...results.flatMap(({ title, statement, coq }) => [make("h3", {}, title), make("p", {}, ...inCode(statement)), coqLine(coq)]));
}

/** Text between backticks as code. */
function inCode(text) {
  return text.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : signed(part)));
}

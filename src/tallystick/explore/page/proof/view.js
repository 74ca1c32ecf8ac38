// The view "The proof": theorems, their steps, what the solver and Coq say, and each string played on the current cell.

import { Refused, once } from "../api.js";
import { make } from "../dom.js";
import { NETWORK_KEYS, networkLine } from "../network.js";
import { signed } from "../numbers.js";
import { addressWith, onChange, state } from "../state.js";
import { play } from "./playing.js";

const WAITING = "The solver goes through every step; the first time takes a moment.";

export async function build(section) {
  const waiting = make("p", { class: "soft", role: "status" }, WAITING);
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
    current.replaceChildren(
      "The current cell: ",
      make("b", {}, networkLine()),
      ". Strings are read by the zero check, h = 0, as the theorems do. ",
      make("a", { href: addressWith({ view: "cell" }) }, "Change it"),
    );
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
    make(
      "div",
      { class: "proof" },
      make("nav", { class: "theorems", "aria-label": "Theorems" }, ...links),
      make("div", {}, place, coqOnly.length ? inCoqAlone(coqOnly) : ""),
    ),
  ];
}

function theoremArticle({ title, statement, parts, coq }) {
  return make(
    "article",
    { class: "theorem" },
    make("h2", {}, title),
    make("p", { class: "statement" }, ...inCode(statement)),
    coqLine(coq),
    ...parts.flatMap((part) => [
      make("h3", {}, part.title),
      make("ol", { class: "steps" }, ...part.steps.map(stepItem)),
    ]),
  );
}

function stepItem(step) {
  const played = make("div", { class: "played", role: "status" });
  const said = step.reason ?? step.finding;
  const claim = make("p", {}, ...(step.string ? [playButton(step.string, played), " "] : []));
  if (step.state) claim.append(make("span", { class: "state" }, `h = ${signed(step.state)}`), " ");
  claim.append(...inCode(step.claim));
  return make(
    "li",
    {},
    make("span", { class: `badge ${(step.verdict ?? "").toLowerCase()}` }, word(step)),
    make("div", {}, claim, said && make("p", { class: "soft" }, ...inCode(said)), played),
  );
}

function playButton(string, place) {
  const label = `Play ${string} on the current cell`;
  const attributes = { type: "button", class: "string-link", "aria-label": label, onclick: () => play(string, place) };
  return make("button", attributes, make("span", { "aria-hidden": "true" }, "▶ "), string);
}

/** The solver's word, or whose word it is instead. */
function word({ verdict, proved_by: by }) {
  if (!verdict) return by === "argument" ? "ARGUED" : "NOT RUN";
  return verdict === "PROVED" ? "PROVED BY Z3" : verdict;
}

function coqLine(coq) {
  if (!coq?.length) return make("p", { class: "soft" }, "Not in Coq: the solver's word alone.");
  return make(
    "p",
    { class: "soft coq" },
    "In Coq: ",
    ...coq.flatMap(({ file, line, theorem }, place) => [
      place ? ", " : "",
      make("code", {}, theorem),
      ` (${file}:${line})`,
    ]),
    ".",
  );
}

function inCoqAlone(results) {
  return make(
    "article",
    { class: "theorem" },
    make("h2", {}, "In Coq alone"),
    ...results.flatMap(({ title, statement, coq }) => [
      make("h3", {}, title),
      make("p", {}, ...inCode(statement)),
      coqLine(coq),
    ]),
  );
}

/** Text between backticks as code. */
function inCode(text) {
  return text.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

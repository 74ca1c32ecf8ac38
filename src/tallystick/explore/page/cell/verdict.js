// The library's word on the network: the conditions with their distances, the horizons, a shortest failing string.

import { inLine, post } from "../api.js";
import { gauge } from "../charts/gauge.js";
import { debounced, make } from "../dom.js";
import { NETWORK_KEYS, question } from "../network.js";
import { shown, signed, whole } from "../numbers.js";
import { onChange, update } from "../state.js";

const WAIT = 80;
export const LENGTHS = { all: "every length", even: "even lengths" };
const OUTCOMES = { PROVED: "proved", REFUTED: "refuted", BOUNDED: "bounded" };

export function verdictPanel(complain) {
  const conditions = make("div", { class: "conditions" });
  const horizons = make("div", { class: "horizons" });
  const summary = make("p", { class: "summary", role: "status" });
  const complaint = make("p", { class: "complaint", role: "alert" });
  const body = make("div", {}, horizons, conditions);
  const element = make(
    "section",
    { class: "panel verdict-panel", "aria-label": "Verdict" },
    make("h2", {}, "Verdict"),
    body,
    complaint,
    summary,
  );
  const line = inLine();

  function ask() {
    element.setAttribute("aria-busy", "true");
    line((signal) => post("api/verdict", question(), signal), {
      done(found) {
        complain("");
        complaint.textContent = "";
        show(found);
        element.removeAttribute("aria-busy");
      },
      failed(message) {
        complaint.textContent = complain(message) ? "" : message;
        summary.textContent = "No verdict.";
      },
    });
  }

  function show(found) {
    conditions.replaceChildren(make("h3", {}, "Conditions of the theorem"), ...found.indicators.map(condition));
    if (!found.indicators.length) conditions.replaceChildren();
    horizons.replaceChildren(...Object.keys(LENGTHS).map((lengths) => horizon(lengths, found[lengths], load)));
    summary.textContent = Object.keys(LENGTHS)
      .map((lengths) => sentence(lengths, found[lengths]))
      .join(" · ");
  }

  onChange(NETWORK_KEYS, debounced(ask, WAIT));
  ask();
  return element;
}

function condition({ formula, holds, finding, distance }) {
  return make(
    "div",
    { class: `condition ${holds ? "good" : "bad"}` },
    make("span", { class: "formula" }, formula),
    make(
      "span",
      { class: "mark" },
      make("span", { "aria-hidden": "true" }, holds ? "✓ " : "✗ "),
      holds ? "holds" : "fails",
    ),
    Number.isFinite(distance) ? gauge(distance) : make("span"),
    make(
      "span",
      { class: "finding" },
      signed(finding ?? ""),
      Number.isFinite(distance) && !finding ? `off by ${shown(distance)}` : "",
    ),
  );
}

const load = (tokens) => update({ string: tokens.join(""), step: String(tokens.length) });

/** A verdict for some lengths, the answer in words first; `load(tokens)` is offered for a failing string, unless it is null. */
export function horizon(lengths, verdict, load) {
  const { outcome, answer, reason } = verdict;
  return make(
    "div",
    { class: "horizon", "data-lengths": lengths },
    make("h3", {}, `Right on all strings, ${LENGTHS[lengths]}`),
    make("p", { class: "big" }, reach(verdict), make("span", { class: `badge ${OUTCOMES[outcome] ?? ""}` }, outcome)),
    make("p", { class: "answer" }, ...answer.flatMap((sentence) => [...withStrings(sentence, verdict, load), " "])),
    reason ? make("p", { class: "reason" }, signed(reason)) : null,
  );
}

/** A sentence with its strings set as such; the failing one, where it is written out, can be loaded. */
function withStrings(sentence, { failing_tokens: tokens, failing_string: string }, load) {
  return sentence.split(/`([^`]*)`/).map((part, place) => {
    if (place % 2 === 0) return part;
    if (!tokens || !load || !sentence.startsWith("Fails")) return make("code", {}, part);
    return make(
      "button",
      {
        type: "button",
        class: "string-link",
        onclick: () => load(tokens),
        title: "Load it below",
        "aria-label": `Load the failing string ${/^[()]+$/.test(string) ? spoken(string) : part}`,
      },
      part,
    );
  });
}

/** A string as one would say it. */
function spoken(string) {
  const runs = string.match(/\(+|\)+/g) ?? [];
  return (
    runs
      .slice(0, 8)
      .map((run) => `${run.length} ${run[0] === "(" ? "opening" : "closing"}`)
      .join(", ") + (runs.length > 8 ? " and so on" : "")
  );
}

export function sentence(lengths, verdict) {
  const name = lengths === "all" ? "All lengths" : "Even lengths";
  if (verdict.outcome === "PROVED") return `${name}: right on every string`;
  return `${name}: right ${reach(verdict)}${verdict.outcome === "BOUNDED" ? ", open beyond" : ""}`;
}

/** How far it is right, in words; a horizon may be beyond the numbers of this language. */
function reach({ outcome, horizon: longest, horizon_text: text }) {
  if (outcome === "PROVED") return "unlimited";
  return `to ${longest === null ? text : whole(longest)}`;
}

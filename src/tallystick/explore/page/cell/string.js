// A string read token by token: typed, generated or loaded; h against the true count, the class and whether it is right.

import { Refused, inLine, post } from "../api.js";
import { chart } from "../charts/frame.js";
import { calm, debounced, make } from "../dom.js";
import { NETWORK_KEYS, question } from "../network.js";
import { roughly, shown, signed } from "../numbers.js";
import { onChange, state, update } from "../state.js";
import { stepTable, tokenStrip } from "./steps.js";
import { paintTrace, stepAt } from "./trace_chart.js";

const WAIT = 80, BEAT = 450, HEIGHT = 290, LONGEST_EXACT = 12;

export function stringPanel(complain) {
  const complaint = make("p", { class: "complaint", id: "string-complaint", role: "alert" });
  const field = make("input", {
    type: "text", class: "brackets", "aria-label": "String of brackets", "aria-describedby": "string-complaint",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "2000",
    oninput: () => update({ string: field.value.replace(/\s+/g, ""), step: "" }),
  });
  const said = make("p", { class: "said", role: "status" });
  const strip = tokenStrip((step) => go(step));
  const picture = chart({ label: "h along the string", height: HEIGHT, paint: paintTrace, name: "trace" });
  const table = stepTable();
  const line = inLine();
  let trace = null;

  const steps = () => trace?.states.length - 1 || 0;
  const current = () => (state.step === "" ? steps() : Math.max(0, Math.min(steps(), Math.round(Number(state.step)) || 0)));
  const go = (step) => update({ step: step >= steps() ? "" : String(Math.max(0, step)) });

  const player = playing({ steps, current, go });

  function ask() {
    line((signal) => post("api/trace", question({ string: state.string }), signal), {
      done(found) {
        complaint.textContent = "";
        trace = found;
        strip.fill(found);
        table.fill(found);
        show();
      },
      failed(message) {
        player.stop();
        complaint.textContent = complain(message) ? "" : message;
      },
    });
  }

  function show() {
    if (!trace) return;
    const step = current();
    player.refresh(spoken(trace, step));
    strip.mark(step);
    said.replaceChildren(...sentence(trace, step));
    picture.update({ trace, step, unit: roughly(state.a) || 1 }, described(trace));
  }

  picture.svg.addEventListener("pointerdown", (event) => go(stepAt(picture.svg, event, steps())));
  picture.svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) go(stepAt(picture.svg, event, steps()));
  });

  onChange([...NETWORK_KEYS, "string"], debounced(ask, WAIT));
  onChange(["string"], () => {
    if (field.value !== state.string) field.value = state.string;
  });
  onChange(["step"], show);
  field.value = state.string;
  ask();

  return make("section", { class: "panel", "aria-label": "A string" },
    make("h2", {}, "A string, token by token"),
    make("div", { class: "row" }, field),
    complaint,
    generator(complaint),
    strip.element,
    player.element,
    said,
    picture.element,
    make("p", { class: "soft" }, "Solid: h. Dashed: the true count, each bracket drawn as a. A dot stands where the class is right, a cross where it is wrong."),
    table.element,
  );
}

function generator(complaint) {
  const kinds = { uniform: "any brackets", balanced: "balanced", dyck1: "correctly nested", nested: "all ( before all )", zigzag: "()()…" };
  const kind = make("select", { "aria-label": "Kind of string" }, ...Object.entries(kinds).map(([value, text]) => make("option", { value }, text)));
  const length = make("input", { type: "number", min: "1", max: "2000", value: "20", "aria-label": "Length of the string, tokens" });
  let seed = 0;
  async function generate() {
    try {
      const { string } = await post("api/string", { kind: kind.value, length: Number(length.value), seed: (seed += 1) });
      complaint.textContent = "";
      update({ string, step: "" });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      complaint.textContent = error.message;
    }
  }
  return make("div", { class: "row generator" },
    make("button", { type: "button", onclick: generate }, "Generate"), kind, make("label", { class: "check" }, length, "tokens"));
}

/** Buttons and a slider for the step, and a clock for those who would rather watch. */
function playing({ steps, current, go }) {
  let clock = 0;
  const slider = make("input", { type: "range", min: "0", step: "1", "aria-label": "Tokens read", oninput: () => go(Number(slider.value)) });
  const button = (text, label, act) => make("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick: act }, text);
  const play = button("▶", "Play", () => (clock ? stop() : start()));

  function start() {
    if (current() >= steps()) go(0);
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "Pause");
    clock = setInterval(() => {
      go(current() + 1);
      if (current() >= steps()) stop();
    }, calm() ? 2 * BEAT : BEAT);
  }

  function stop() {
    clearInterval(clock);
    clock = 0;
    play.textContent = "▶";
    play.setAttribute("aria-label", "Play");
  }

  const moved = (place) => () => {
    stop();
    go(place());
  };
  return {
    element: make("div", { class: "row player", role: "group", "aria-label": "Step through the string" },
      button("⇤", "To the beginning", moved(() => 0)),
      button("←", "One token back", moved(() => current() - 1)),
      play,
      button("→", "One token on", moved(() => current() + 1)),
      button("⇥", "To the end", moved(() => steps())),
      slider),
    stop,
    refresh(text) {
      slider.max = steps();
      slider.value = current();
      slider.setAttribute("aria-valuetext", text);
    },
  };
}

function spoken(trace, step) {
  return `${step} of ${trace.states.length - 1} tokens: h = ${shown(trace.states[step])}, count ${trace.counts[step]}`;
}

function sentence(trace, step) {
  const { states, counts, classes, expected, right, exact } = trace;
  const total = states.length - 1;
  if (step === 0) return ["Before the first token h = 0 and the count is 0."];
  return [
    step === total ? `After all ${total} tokens ` : `After ${step} of ${total} tokens `,
    make("b", {}, `h ${valueText(states[step], exact?.[step])}`), `, the count is ${signed(String(counts[step]))}, the class `, make("b", {}, classes[step]), ": ",
    make("b", { class: right[step] ? "good" : "bad" }, right[step] ? "right" : "wrong"),
    right[step] || !expected ? "." : `; it should be ${expected[step]}.`,
  ];
}

/** The state exactly where that is short, and roughly where it is not; the table below has every digit. */
function valueText(value, exact) {
  if (exact && exact.length <= LONGEST_EXACT) return `= ${signed(exact)}`;
  return `${exact ? "≈" : "="} ${shown(value)}`;
}

function described({ states, right }) {
  const wrong = right.slice(1).filter((each) => !each).length;
  return `h and the true count after each of ${states.length - 1} tokens; the class is wrong after ${wrong} of them.`;
}

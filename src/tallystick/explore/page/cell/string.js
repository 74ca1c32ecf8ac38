// A string read token by token: h against the true count, the class and whether it is right.

import { inLine, post } from "../api.js";
import { chart } from "../charts/frame.js";
import { debounced, make } from "../dom.js";
import { NETWORK_KEYS, question } from "../network.js";
import { roughly, shown, signed } from "../numbers.js";
import { onChange, state, update } from "../state.js";
import { generator } from "./generator.js";
import { stepPlayer } from "./player.js";
import { stepTable, tokenStrip } from "./steps.js";
import { paintTrace, stepAt } from "./trace_chart.js";

const WAIT = 80;
const HEIGHT = 290;
const LONGEST_EXACT = 12;
const LEGEND =
  "Solid: h. Dashed: the true count, each bracket drawn as a. " +
  "A dot stands where the class is right, a cross where it is wrong.";

export function stringPanel(complain) {
  const complaint = make("p", { class: "complaint", id: "string-complaint", role: "alert" });
  const field = make("input", {
    type: "text",
    class: "brackets",
    "aria-label": "String of brackets",
    "aria-describedby": "string-complaint",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: "2000",
    oninput: () => update({ string: field.value.replace(/\s+/g, ""), step: "" }),
  });
  const said = make("p", { class: "said", role: "status" });
  const shownIn = make("p", { class: "soft" });
  const strip = tokenStrip((step) => go(step));
  const picture = chart({ label: "h along the string", height: HEIGHT, paint: paintTrace, name: "trace" });
  const table = stepTable();
  const line = inLine();
  let trace = null;

  const steps = () => trace?.states.length - 1 || 0;
  const current = () =>
    state.step === "" ? steps() : Math.max(0, Math.min(steps(), Math.round(Number(state.step)) || 0));
  const go = (step) => update({ step: step >= steps() ? "" : String(Math.max(0, step)) });

  const player = stepPlayer({ steps, current, go });

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
    const asked = !trace.arithmetic || trace.arithmetic === state.arithmetic;
    shownIn.textContent = asked ? "" : `The states are shown in ${trace.arithmetic}: they are no fractions.`;
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

  return make(
    "section",
    { class: "panel", "aria-label": "A string" },
    make("h2", {}, "A string, token by token"),
    make("div", { class: "row" }, field),
    complaint,
    generator(complaint),
    strip.element,
    player.element,
    said,
    shownIn,
    picture.element,
    make("p", { class: "soft" }, LEGEND),
    table.element,
  );
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
    make("b", {}, `h ${valueText(states[step], exact?.[step])}`),
    `, the count is ${signed(String(counts[step]))}, the class `,
    make("b", {}, classes[step]),
    ": ",
    make("b", { class: right[step] ? "good" : "bad" }, right[step] ? "right" : "wrong"),
    right[step] || !expected ? "." : `; it should be ${expected[step]}.`,
  ];
}

/** The state exactly where that is short, and roughly where it is not; the table below has every digit. */
function valueText(value, exact) {
  if (value === null) return "is no finite number";
  if (exact && exact.length <= LONGEST_EXACT) return `= ${signed(exact)}`;
  return `${exact ? "≈" : "="} ${shown(value)}`;
}

function described({ states, right }) {
  const wrong = right.slice(1).filter((each) => !each).length;
  return `h and the true count after each of ${states.length - 1} tokens; the class is wrong after ${wrong} of them.`;
}

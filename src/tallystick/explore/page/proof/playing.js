// A theorem's string on the current cell, read by the zero check, as the theorem does.

import { inLine, post } from "../api.js";
import { calm, make } from "../dom.js";
import { network } from "../network.js";
import { shown, signed } from "../numbers.js";
import { state, update } from "../state.js";

const BEAT = 380; // milliseconds a token
const LONGEST_EXACT = 13;

const lines = new WeakMap();

/** Read a string token by token on the current cell, h after each, and say whether the zero check is right. */
export function play(string, place) {
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
  return [...string].slice(0, step).map((token, index) => {
    const value = exact?.[index + 1];
    const text = value && value.length <= LONGEST_EXACT ? signed(value) : shown(states[index + 1]);
    return make("span", { class: "play-token" }, make("code", {}, token), make("span", {}, text));
  });
}

function ending({ classes, expected, right }, string) {
  const last = classes.length - 1;
  const verdict = right[last] ? "right" : `wrong, it should be ${expected[last]}`;
  const closer = () => update({ view: "cell", readout: "zero", string, step: "" });
  return [
    make("span", {}, make("b", {}, classes[last]), ": ", make("b", { class: right[last] ? "good" : "bad" }, verdict), "."),
    make("button", { type: "button", class: "quiet", onclick: closer }, "Look closer"),
  ];
}

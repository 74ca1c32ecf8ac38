// A string made by the library instead of typed.

import { Refused, post } from "../api.js";
import { make } from "../dom.js";
import { choices } from "../network.js";
import { update } from "../state.js";

/** A kind and a length; what the server refuses is said in the string's own line. */
export function generator(complaint) {
  const kind = make(
    "select",
    { "aria-label": "Kind of string" },
    ...choices.strings.map(({ name, title }) => make("option", { value: name }, title)),
  );
  const length = make("input", {
    type: "number",
    min: "1",
    max: "2000",
    value: "20",
    "aria-label": "Length of the string, tokens",
  });
  let seed = 0;
  async function generate() {
    try {
      const wanted = { kind: kind.value, length: Number(length.value), seed: (seed += 1) };
      const { string } = await post("api/string", wanted);
      complaint.textContent = "";
      update({ string, step: "" });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      complaint.textContent = error.message;
    }
  }
  return make(
    "div",
    { class: "row generator" },
    make("button", { type: "button", onclick: generate }, "Generate"),
    kind,
    make("label", { class: "check" }, length, "tokens"),
  );
}

// One number: a letter, a slider to move it and a field to give it exactly. Both show the same state.

import { make } from "../dom.js";
import { inShort } from "../network.js";
import { roughly } from "../numbers.js";

let made = 0;

/** `number` says its letter, the name of its field in a request, what it does, and how it is read and written. */
export function numberField(number) {
  const id = `number-${(made += 1)}`;
  const slider = make("input", {
    type: "range",
    step: "0.01",
    "aria-label": `${number.letter}, ${number.doing}, slider`,
    oninput: () => number.write(String(Number(slider.value))),
  });
  const text = make("input", {
    type: "text",
    id,
    inputmode: "text",
    autocomplete: "off",
    spellcheck: "false",
    title: number.doing,
    "aria-label": `${number.letter}, ${number.doing}`,
    "aria-describedby": `${id}-complaint`,
    oninput: () => number.write(text.value.trim().replaceAll("−", "-")),
  });
  const about = make("span", { class: "about" });
  const complaint = make("span", { id: `${id}-complaint`, class: "complaint" });
  const [letter, ...rest] = number.letter.split(" ");
  const name = make("span", { class: "letter", title: number.doing, "aria-hidden": "true" }, letter);
  if (rest.length) name.append(make("sub", {}, rest.join(" ")));

  function refresh() {
    const value = number.read();
    if (text.value.trim().replaceAll("−", "-") !== value) text.value = value;
    const rough = roughly(value);
    about.textContent = inShort(value).startsWith("≈") ? inShort(value) : "";
    if (rough === null || (document.activeElement === slider && Number(slider.value) === rough)) return;
    const limit = reaching(number.limit, Math.abs(rough));
    slider.min = -limit;
    slider.max = limit;
    slider.value = rough;
  }

  function complain(message) {
    // The server names the field of the document; here it has a letter.
    complaint.textContent = message.replace(/^network: /, "").replace(`${number.field}:`, `${number.letter}:`);
    if (message) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
  }

  refresh();
  return {
    element: make("div", { class: "number" }, name, slider, text, about, complaint),
    refresh,
    complain,
    names: (message) => message.startsWith(`${number.field}:`) || message.startsWith(`network: ${number.field}:`),
  };
}

/** The limit doubled until it reaches so far. */
function reaching(limit, size) {
  return size <= limit || !Number.isFinite(size) ? limit : limit * 2 ** Math.ceil(Math.log2(size / limit));
}

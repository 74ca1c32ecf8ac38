// What a network says after each token as a table, folded away: for exact reading and for screen readers.

import { make } from "../dom.js";

const MOST_ROWS = 200;
const TITLES = ["Tokens", "Token", "Answer", "Should be", ""];

export function answerTable() {
  const body = make("tbody");
  const note = make("p", { class: "soft" });
  const head = TITLES.map((title) => make("th", { scope: "col" }, title));
  const element = make(
    "details",
    {},
    make("summary", {}, "Answers as a table"),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers as a table" },
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), body),
    ),
    note,
  );
  let waiting = null;
  const fill = ({ tokens, says, right, good }) => {
    const rows = says.slice(0, MOST_ROWS).map((answer, step) => {
      const word = right[step] === null ? "not asked" : good[step] ? "right" : "wrong";
      const texts = [String(step), step ? tokens[step - 1] : "", answer, right[step] ?? "anything", word];
      return make("tr", { class: good[step] ? null : "wrong" }, ...texts.map((text) => make("td", {}, text)));
    });
    body.replaceChildren(...rows);
    note.textContent = says.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${says.length} rows.` : "";
  };
  element.addEventListener("toggle", () => element.open && waiting && fill(waiting));
  return {
    element,
    fill(reading) {
      waiting = reading;
      if (element.open) fill(reading);
    },
  };
}

// The steps of a string without a picture: its tokens in a row, and a table for exact numbers and screen readers.

import { make } from "../dom.js";
import { shown, signed } from "../numbers.js";

const MOST_TOKENS = 400,
  MOST_ROWS = 200;

/** The tokens in a row, each a place to click; those after which the class is wrong are marked. */
export function tokenStrip(choose) {
  const element = make("div", {
    class: "strip",
    "aria-hidden": "true",
    onclick: (event) => {
      const step = event.target.dataset.step;
      if (step) choose(Number(step));
    },
  });
  let marked = null;
  return {
    element,
    fill({ string, right }) {
      marked = null;
      element.hidden = string.length > MOST_TOKENS;
      const shownTokens = element.hidden ? [] : [...string];
      element.replaceChildren(
        ...shownTokens.map((token, place) =>
          make("span", { class: right[place + 1] ? "token" : "token wrong", "data-step": place + 1 }, token),
        ),
      );
    },
    mark(step) {
      marked?.classList.remove("here");
      marked = element.children[step - 1] ?? null;
      marked?.classList.add("here");
      for (const [place, token] of [...element.children].entries()) token.classList.toggle("ahead", place >= step);
    },
  };
}

/** Every step as a row, folded away. */
export function stepTable() {
  const body = make("tbody");
  const note = make("p", { class: "soft" });
  const head = ["Tokens", "Token", "h", "Count", "Class", ""].map((title) => make("th", { scope: "col" }, title));
  const element = make(
    "details",
    {},
    make("summary", {}, "As a table"),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Steps as a table" },
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), body),
    ),
    note,
  );
  let waiting = null;
  const fill = ({ string, states, exact, counts, classes, right }) => {
    const rows = Array.from({ length: Math.min(string.length, MOST_ROWS) }, (_, place) => place + 1);
    body.replaceChildren(
      ...rows.map((step) =>
        make(
          "tr",
          { class: right[step] ? null : "wrong" },
          ...[
            String(step),
            string[step - 1],
            exact?.[step] ? signed(exact[step]) : shown(states[step], 12),
            signed(String(counts[step])),
            classes[step],
            right[step] ? "right" : "wrong",
          ].map((text) => make("td", {}, text)),
        ),
      ),
    );
    note.textContent = string.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${string.length} steps.` : "";
  };
  element.addEventListener("toggle", () => element.open && waiting && fill(waiting));
  return {
    element,
    fill(trace) {
      waiting = trace;
      if (element.open) fill(trace);
    },
  };
}

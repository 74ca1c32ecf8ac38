// Moving through a string: a step at a time, anywhere at once, or by itself.

import { calm, make } from "../dom.js";

const BEAT = 450; // milliseconds a token
const LONGEST = 30_000; // milliseconds a string; a long one is played faster
const SHORTEST_BEAT = 40;

/** Buttons and a slider for the step, and a clock for those who would rather watch. */
export function stepPlayer({ steps, current, go }) {
  let clock = 0;
  const slider = make("input", {
    type: "range",
    min: "0",
    step: "1",
    "aria-label": "Tokens read",
    oninput: () => go(Number(slider.value)),
  });
  const button = (text, label, act) =>
    make("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick: act }, text);
  const play = button("▶", "Play", () => (clock ? stop() : start()));

  const beat = () => (calm() ? 2 : 1) * Math.max(SHORTEST_BEAT, Math.min(BEAT, LONGEST / Math.max(1, steps())));

  function start() {
    clearInterval(clock);
    if (current() >= steps()) go(0);
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "Pause");
    clock = setInterval(
      () => {
        go(current() + 1);
        if (current() >= steps()) stop();
      },
      beat(),
    );
  }

  function stop() {
    clearInterval(clock);
    clock = 0;
    play.textContent = "▶";
    play.setAttribute("aria-label", "Play");
  }

  const mover = (text, label, place) =>
    button(text, label, () => {
      stop();
      go(place());
    });
  return {
    element: make(
      "div",
      { class: "row player", role: "group", "aria-label": "Step through the string" },
      mover("⇤", "To the beginning", () => 0),
      mover("←", "One token back", () => current() - 1),
      play,
      mover("→", "One token on", () => current() + 1),
      mover("⇥", "To the end", steps),
      slider,
    ),
    start,
    stop,
    refresh(text) {
      slider.max = steps();
      slider.value = current();
      slider.setAttribute("aria-valuetext", text);
    },
  };
}

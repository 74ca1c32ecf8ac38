// A network over any alphabet: a string token by token with its units, what it says and what is right, and live prefixes.

import { inLine, post } from "../api.js";
import { stepPlayer } from "../cell/player.js";
import { tokenStrip } from "../cell/steps.js";
import { stepAt } from "../cell/trace_chart.js";
import { axisBelow, axisBeside, chart, pathThrough } from "../charts/frame.js";
import { linear, span, ticks, wholeTicks } from "../charts/scales.js";
import { debounced, draw, make } from "../dom.js";
import { shown, whole } from "../numbers.js";

const WAIT = 200;
const HEIGHT = 300,
  LIVE_HEIGHT = 190;
const MARGIN = { left: 52, right: 46, top: 22, bottom: 36 }; // as in the cell's picture, whose pointer is used here
const MOST_TOKENS = 600,
  MOST_LISTED = 12;

/** The panels of a network, and how to stop what plays in them; `text` is its document. */
export function languagePanels(found, text) {
  const { element, stop } = stringPanel(found, text);
  return { panels: found.has_steps ? [element, livePanel(found, text)] : [element], stop };
}

function stringPanel(found, text) {
  const separator = found.alphabet.every((token) => token.length === 1) ? "" : " ";
  const complaint = make("p", { class: "complaint", role: "alert", id: "tokens-complaint" });
  const said = make("p", { class: "said", role: "status" });
  const listed = make("p", { class: "soft units" });
  const strip = tokenStrip((step) => go(step));
  const picture = chart({ label: "Units along the string", height: HEIGHT, paint: paintUnits, name: "units" });
  const line = inLine();
  const field = make("input", {
    type: "text",
    class: "brackets",
    value: found.tokens.join(separator),
    "aria-label": "String of tokens",
    "aria-describedby": "tokens-complaint",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    oninput: debounced(() => read(tokensOf(field.value)), WAIT),
  });
  let reading = null,
    place = 0;

  const tokensOf = (written) => (separator ? written.split(/\s+/).filter(Boolean) : [...written.replace(/\s+/g, "")]);
  const steps = () => reading?.tokens.length ?? 0;
  const go = (step) => {
    place = Math.max(0, Math.min(steps(), step));
    show();
  };
  const player = stepPlayer({ steps, current: () => place, go });

  function read(tokens) {
    player.stop();
    if (tokens.length > MOST_TOKENS) {
      complaint.textContent = `tokens: more than ${MOST_TOKENS}, the most that are read here`;
      return;
    }
    line((signal) => post("api/reading", `{"network": ${text}, "tokens": ${JSON.stringify(tokens)}}`, signal), {
      done(answer) {
        complaint.textContent = "";
        const right = answer.right.map((wanted, step) => wanted === null || wanted === answer.says[step]);
        reading = { ...answer, good: right };
        strip.fill({ string: answer.tokens, right });
        go(answer.tokens.length);
      },
      failed(message) {
        complaint.textContent = message;
      },
    });
  }

  function show() {
    if (!reading) return;
    player.refresh(`${place} of ${steps()} tokens: says ${reading.says[place]}`);
    strip.mark(place);
    said.replaceChildren(...sentence(reading, place, found.answer));
    const units = reading.units[place].slice(0, MOST_LISTED).map((value) => (value === null ? "∞" : shown(value, 4)));
    listed.textContent = `Units: ${units.join(", ")}${reading.units[place].length > MOST_LISTED ? ", …" : ""}`;
    picture.update({ reading, step: place }, described(reading));
  }

  picture.svg.addEventListener("pointerdown", (event) => go(stepAt(picture.svg, event, steps())));
  picture.svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) go(stepAt(picture.svg, event, steps()));
  });
  read(found.tokens);
  const element = make(
    "section",
    { class: "panel", "aria-label": "A string" },
    make("h2", {}, "A string, token by token"),
    make("p", { class: "soft" }, `${found.task}, answer “${found.answer}”, tokens ${found.alphabet.join(" ")}`),
    make("div", { class: "row" }, field),
    complaint,
    strip.element,
    player.element,
    said,
    picture.element,
    listed,
    make("p", { class: "soft" }, "One line per unit, in float64. A cross on the axis stands where the answer is wrong."),
  );
  return { element, stop: player.stop };
}

function sentence({ says, right, good, tokens }, step, answer) {
  const after = step === 0 ? "Before the first token" : `After ${step} of ${tokens.length} tokens`;
  const asks = answer === "next" || answer === "support" ? ` the next is ` : ` the answer is `;
  return [
    `${after}${asks}`,
    make("b", {}, says[step]),
    ": ",
    make(
      "b",
      { class: good[step] ? "good" : "bad" },
      right[step] === null ? "nothing is asked here" : good[step] ? "right" : "wrong",
    ),
    good[step] ? "." : `; it should be ${right[step]}.`,
  ];
}

function described({ tokens, good }) {
  return `The units after each of ${tokens.length} tokens; the answer is wrong after ${good.filter((one) => !one).length}.`;
}

function paintUnits(svg, width, { reading, step }) {
  const { units, good } = reading;
  const last = units.length - 1;
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const [low, high] = span([0, ...units.flat().filter((value) => value !== null)], 0.06);
  const x = linear([0, Math.max(1, last)], [left, end]);
  const y = linear([low, high], [bottom, top]);
  axisBeside(svg, { y, values: ticks(low, high, 5), text: (value) => shown(value, 4), from: left, to: end });
  axisBelow(svg, { x, y: bottom, values: wholeTicks(0, last, Math.min(10, width / 60)), name: "tokens read", end });
  svg.append(draw("line", { class: "cursor", x1: x(step), x2: x(step), y1: top, y2: bottom }));
  units[0].forEach((_, unit) => {
    const points = units.map((values, place) => [x(place), values[unit] === null ? NaN : y(values[unit])]);
    svg.append(draw("path", { class: "h-line thin", d: pathThrough(points) }));
    const value = units[step][unit];
    if (value !== null) svg.append(draw("circle", { class: "dot right", cx: x(step), cy: y(value), r: 3 }));
  });
  good.forEach((fine, place) => {
    if (fine) return;
    const [cx, cy, size] = [x(place), bottom, place === step ? 5.5 : 3.6];
    const cross = `M${cx - size} ${cy - size}L${cx + size} ${cy + size}M${cx - size} ${cy + size}L${cx + size} ${cy - size}`;
    svg.append(draw("path", { class: "dot wrong", d: cross }));
  });
}

function livePanel({ answer }, text) {
  const picture = chart({ label: "Live prefixes", height: LIVE_HEIGHT, paint: paintLive, name: "live" });
  const which = answer === "threshold" ? "that the network has not rejected" : "that some member begins with";
  const said = make("p", { class: "soft" }, `Prefixes ${which}, by their length.`);
  inLine()((signal) => post("api/live", `{"network": ${text}}`, signal), {
    done({ counts }) {
      const most = whole(Math.max(...counts));
      said.textContent = `Prefixes ${which}, by their length: at most ${most}, to length ${counts.length - 1}.`;
      picture.update(counts, said.textContent);
    },
    failed(message) {
      said.textContent = message;
    },
  });
  return make("section", { class: "panel", "aria-label": "Live prefixes" }, make("h2", {}, "Live prefixes"), said, picture.element);
}

function paintLive(svg, width, live) {
  const [left, end, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, LIVE_HEIGHT - MARGIN.bottom];
  const most = Math.max(1, ...live);
  const x = linear([-0.5, live.length - 0.5], [left, end]);
  const y = linear([0, most], [bottom, top]);
  axisBeside(svg, { y, values: wholeTicks(0, most, 4), text: whole, from: left, to: end });
  axisBelow(svg, { x, y: bottom, values: wholeTicks(0, live.length - 1, Math.min(10, width / 60)), name: "length", end });
  live.forEach((count, length) => {
    const wide = Math.max(0.6, 0.8 * (x(1) - x(0)));
    svg.append(draw("rect", { class: "bar", x: x(length) - wide / 2, width: wide, y: y(count), height: bottom - y(count) }));
  });
}

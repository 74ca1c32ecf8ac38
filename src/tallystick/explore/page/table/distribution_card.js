// What lies behind an entry of the table: how the accuracies of all networks of its setting are distributed.

import { get, inLine, query } from "../api.js";
import { paintDistribution } from "../charts/distribution.js";
import { chart } from "../charts/frame.js";
import { debounced, make } from "../dom.js";
import { percent, whole } from "../numbers.js";

const LINGER = 120; // milliseconds
const BINS = 40;
const HIGH = 100;

/** The card with the distribution behind an entry; it stands beside the entry, or at the foot of a small screen. */
export function distributionCard(runColumns) {
  const title = make("p", { class: "card-title" });
  const text = make("p", { class: "soft" });
  const label = "Distribution of the accuracy";
  const picture = chart({ label, height: 170, paint: paintDistribution, name: "distribution" });
  const element = make(
    "aside",
    { class: "behind", hidden: true, "aria-live": "polite", "aria-label": "Distribution behind the entry" },
    title,
    picture.element,
    text,
  );
  const line = inLine();
  let leaving = 0;

  const ask = debounced(({ setting, entries }, column, button) => {
    const entry = entries[column.id];
    const low = Math.floor(Math.min(entry.min, entry.band?.[0] ?? HIGH, Number(entry.paper.avg), HIGH - 1));
    const wanted = { setting, column: column.column, bins: BINS, low, high: HIGH };
    line((signal) => get(query("api/run/histogram", wanted), signal), {
      done({ edges, series: [found] }) {
        text.textContent = described(found, entry, low);
        const drawn = { edges, counts: found.counts, paper: Number(entry.paper.avg), band: entry.band };
        picture.update(drawn, text.textContent);
        stand(element, button);
      },
      failed: (message) => (text.textContent = message),
    });
  }, LINGER);

  function hide() {
    clearTimeout(leaving);
    element.hidden = true;
  }

  return {
    element,
    hide,
    leave: () => (leaving = setTimeout(() => document.activeElement.classList.contains("entry") || hide(), LINGER)),
    show(row, column, button) {
      clearTimeout(leaving);
      const words = runColumns.find(({ name }) => name === column.column)?.title ?? column.title;
      title.textContent = `${row.group}, length ${row.train_length}: ${words}`;
      element.hidden = false;
      stand(element, button);
      ask(row, column, button);
    },
  };
}

function described({ total, median, below }, { mean }, low) {
  const parts = [`median ${percent(median)}\u00a0%`];
  if (mean !== null) parts.push(`mean ${percent(mean)}\u00a0%`);
  if (below) parts.push(`${whole(below)} below ${low}\u00a0%`);
  const legend = "Dashed: the paper's average; shaded: the band; heights by square root.";
  return `${whole(total)} networks: ${parts.join(", ")}. ${legend}`;
}

function stand(element, button) {
  const place = button.getBoundingClientRect();
  const own = element.getBoundingClientRect();
  if (getComputedStyle(element).getPropertyValue("--foot").trim() === "yes") return; // the style sheet puts it there
  const below = place.bottom + own.height + 12 < innerHeight;
  element.style.top = `${below ? place.bottom + 6 : Math.max(8, place.top - own.height - 6)}px`;
  element.style.left = `${Math.max(8, Math.min(innerWidth - own.width - 24, place.left))}px`;
}

// The cell that was clicked in the plane: it becomes the current cell, and a line says what is known of it.

import { get, inLine, query } from "../api.js";
import { make } from "../dom.js";
import { stateOf } from "../network.js";
import { shown, whole } from "../numbers.js";
import { update } from "../state.js";
import { opened, written } from "../network/opening.js";
import { cellNear } from "./cells.js";
import { chosenSettings, groupTitle } from "./filters.js";

export function chosenCell(run) {
  const several = run.has_units;
  const text = make(
    "p",
    { role: "status" },
    several
      ? "Click a network to load it into the view “A network”."
      : "Click a cell to load it; it is then the current cell of every view.",
  );
  const open = make(
    "button",
    { type: "button", hidden: true, onclick: () => update({ view: several ? "network" : "cell" }) },
    `Look at this ${several ? "network" : "cell"}`,
  );
  const line = inLine();

  function choose({ mark, ...place }) {
    const ids = chosenSettings(run).map(({ id }) => id);
    line(
      async (signal) => {
        const point = await cellNear({ ids, ...place });
        if (!point) return null;
        const { network, arithmetic } = await get(
          query("api/run/model", { setting: point.setting, seed: point.seed }),
          signal,
        );
        return { point, network, arithmetic };
      },
      {
        done(found) {
          if (!found) {
            text.textContent = `No ${several ? "network" : "cell"} there; zoom in, or click where some are.`;
            return;
          }
          mark(found.point);
          const name = `seed ${found.point.seed} of ${run.name}`;
          update(several ? opened(written(found.network), name) : stateOf(found.network, found.arithmetic));
          text.textContent = `Loaded: ${described(found.point)}`;
          open.hidden = false;
        },
        failed: (message) => (text.textContent = message),
      },
    );
  }

  function described(point) {
    const setting = run.settings.find(({ id }) => id === point.setting);
    const title = setting
      ? `seed ${point.seed} of ${groupTitle(setting, run)}, training length ${setting.train_length}`
      : `seed ${point.seed}`;
    const values = run.columns.map(({ name, title: words }) => `${words} = ${valueText(point.values[name])}`);
    return `${title}. ${values.join("; ")}.`;
  }

  return { element: make("div", { class: "card" }, text, open), choose };
}

/** A value of a column: a number, `unlimited`, or none. */
function valueText(value) {
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? whole(value) : shown(value);
}

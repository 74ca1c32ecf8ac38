// Training paths over the plane, and a slider for the epoch.

import { get, inLine, query } from "../api.js";
import { debounced, make } from "../dom.js";
import { onChange, state, update } from "../state.js";
import { filterKeys } from "./filters.js";

const PATHS = 48;

export function pathsControl(run, settings, show, lengthOf) {
  const complaint = make("p", { class: "complaint", role: "alert" });
  const box = make("input", { type: "checkbox", onchange: () => update({ paths: box.checked ? "yes" : "" }) });
  const epoch = make("input", {
    type: "range",
    min: "0",
    "aria-label": "Epoch",
    oninput: () => update({ epoch: epoch.value }),
  });
  const number = make("output", { class: "soft" });
  const clock = make("span", { class: "row", hidden: true }, epoch, number);
  const line = inLine();
  let paths = [];

  function refresh() {
    const last = Math.max(0, ...paths.map(({ values }) => values.ab_ratio.length - 1));
    const now = state.epoch === "" ? last : Math.min(last, Number(state.epoch) || 0);
    box.checked = state.paths === "yes";
    clock.hidden = !box.checked || !paths.length;
    epoch.max = last;
    epoch.value = now;
    epoch.setAttribute("aria-valuetext", `epoch ${now} of ${last}`);
    number.textContent = `epoch ${now} of ${last}`;
    show(box.checked ? { paths, epoch: now } : null);
  }

  function ask() {
    const ids = settings().map(({ id }) => id);
    if (state.paths !== "yes" || !ids.length) {
      refresh();
      return;
    }
    line((signal) => get(query("api/run/paths", { setting: ids.join(","), limit: PATHS }), signal), {
      done(found) {
        paths = found.paths.map((path) => ({ ...path, length: lengthOf.get(path.setting) }));
        complaint.textContent = paths.length ? "" : "No training path was kept of these settings.";
        refresh();
      },
      failed: (message) => (complaint.textContent = message),
    });
  }

  onChange(["paths", ...filterKeys(run)], debounced(ask, 30));
  onChange(["epoch"], refresh);
  ask();
  const element = run.has_paths
    ? make("span", { class: "row" }, make("label", { class: "check" }, box, "training paths"), clock)
    : "";
  return { element, complaint };
}

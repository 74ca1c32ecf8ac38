// The view "A network": a network of any kind as its file holds it, its verdict, words and pictures.

import { Refused, inLine, once, post } from "../api.js";
import { LENGTHS, horizon, sentence } from "../cell/verdict.js";
import { debounced, make } from "../dom.js";
import { saveJson } from "../export.js";
import { onChange, state, update } from "../state.js";
import { languagePanels } from "./language.js";
import { outputPanel } from "./pictures.js";

const WAIT = 250;

export async function build(section) {
  let presets;
  try {
    presets = await once("api/linear-presets");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    section.append(make("p", { class: "complaint", role: "alert" }, error.message));
    return;
  }
  const complaint = make("p", { class: "complaint", role: "alert", id: "document-complaint" });
  const horizons = make("div", { class: "horizons" });
  const summary = make("p", { class: "summary", role: "status" });
  const outputs = make("div", {});
  const area = make("textarea", {
    class: "document",
    spellcheck: "false",
    "aria-label": "The network as a model file holds it",
    "aria-describedby": "document-complaint",
    oninput: () => update({ model: area.value }),
  });
  const findings = make(
    "div",
    { class: "findings" },
    make("section", { class: "panel", "aria-label": "Verdict" }, make("h2", {}, "Verdict"), horizons, summary),
    outputs,
  );
  const line = inLine();
  let leave = () => {};

  function complain(message) {
    complaint.textContent = message;
    if (message) area.setAttribute("aria-invalid", "true");
    else area.removeAttribute("aria-invalid");
  }

  function ask() {
    const text = state.model || documentOf(presets[0]);
    if (area.value !== text) area.value = text;
    try {
      JSON.parse(text);
    } catch (error) {
      complain(`network: not JSON (${error.message})`);
      return;
    }
    findings.setAttribute("aria-busy", "true");
    // The text itself is sent: this language's numbers would lose digits.
    line((signal) => post("api/network", `{"network": ${text}}`, signal), {
      done(found) {
        complain("");
        findings.removeAttribute("aria-busy");
        const asked = Object.keys(LENGTHS).filter((lengths) => found[lengths]);
        horizons.replaceChildren(...asked.map((lengths) => horizon(lengths, found[lengths], null)));
        summary.textContent = asked.map((lengths) => sentence(lengths, found[lengths])).join(" · ");
        leave();
        const { panels, stop } = found.kind === "language" ? languagePanels(found, text) : linearPanels(found);
        leave = stop;
        outputs.replaceChildren(...panels);
      },
      failed(message) {
        complain(message);
        summary.textContent = "No verdict.";
      },
    });
  }

  onChange(["model"], debounced(ask, WAIT));
  section.append(make("div", { class: "bench" }, controls(presets, area, complaint), findings));
  ask();
}

const linearPanels = (found) => ({
  panels: found.outputs.map((output) => outputPanel(output, found.all)),
  stop() {},
});

/** The document of a preset; that of a file as it is, with all its digits. */
const documentOf = ({ file, network }) => file ?? written(network);

function controls(presets, area, complaint) {
  const said = make("p", { class: "soft", "aria-live": "polite" });
  const chips = presets.map((preset) => {
    const { title, text } = preset;
    const load = () => {
      said.textContent = text;
      update({ model: documentOf(preset) });
    };
    return make("button", { type: "button", class: "chip", title: text, onclick: load }, title);
  });
  const file = make("input", {
    type: "file",
    accept: ".json,application/json",
    "aria-label": "Open a model file",
    onchange: async () => update({ model: await file.files[0].text() }),
  });
  return make(
    "form",
    { class: "controls", "aria-label": "The network", onsubmit: (event) => event.preventDefault() },
    make("fieldset", {}, make("legend", {}, "Start from"), make("div", { class: "chips" }, ...chips), said),
    make("fieldset", {}, make("legend", {}, "Model file"), file, area, complaint),
    make(
      "div",
      { class: "row" },
      make("button", { type: "button", onclick: () => saveJson(area.value, "network.json") }, "Save as a file"),
    ),
    make(
      "p",
      { class: "soft" },
      make("code", {}, "tallystick certify network.json --out certificate.json"),
      " writes the certificate of this file. Numbers are read exactly: ",
      make("code", {}, '"1/3"'),
      " as well as 0.25.",
    ),
  );
}

/** A model document with each row of a matrix on a line. */
function written(network) {
  const fields = Object.entries(network).map(([name, value]) => ` ${JSON.stringify(name)}: ${rows(value)}`);
  return `{\n${fields.join(",\n")}\n}`;
}

function rows(value) {
  if (!Array.isArray(value) || !Array.isArray(value[0])) return JSON.stringify(value).replace(/[,:]/g, "$& ");
  return `[\n${value.map((row) => `  [${row.map((each) => JSON.stringify(each)).join(", ")}]`).join(",\n")}\n ]`;
}

// Opening a network: from a preset, a file, the clipboard, something dropped on the view, or typed.

import { Refused, post } from "../api.js";
import { make, say } from "../dom.js";
import { saveJson } from "../export.js";
import { state, update } from "../state.js";

const LARGEST = 700_000; // bytes of a file; the server takes a mebibyte, and some are for the way it is sent
const PASTED = "pasted";

/** The changes of state that make a document the present network, seen from the beginning. */
export const opened = (model, name) => ({ model, name, tokens: "", at: "", layer: "" });

/** The document of a preset; that of a file as it is, with all its digits. */
export const documentOf = ({ file, network }) => file ?? written(network);

/** The controls; `presets` come first, and a complaint is said beside the buttons. */
export function openingControls(presets, section) {
  const complaint = make("p", { class: "complaint", role: "alert", id: "document-complaint" });
  const about = make("p", { class: "soft", "aria-live": "polite" });
  const area = make("textarea", {
    class: "document",
    spellcheck: "false",
    "aria-label": "The network as a model file holds it",
    "aria-describedby": "document-complaint",
    oninput: () => update(opened(area.value, state.name)),
  });

  function complain(message) {
    complaint.textContent = message;
    if (message) area.setAttribute("aria-invalid", "true");
    else area.removeAttribute("aria-invalid");
  }

  function open(text, name, words = "") {
    about.textContent = words;
    update(opened(text, name));
    say(`Opened ${name}.`);
  }

  async function openFile(file) {
    try {
      if (file.size > LARGEST)
        throw new Refused(`${file.name}: ${file.size.toLocaleString("en-GB")} bytes; at most ${LARGEST.toLocaleString("en-GB")} are opened here`);
      if (/\.json$/i.test(file.name)) open(await file.text(), file.name);
      else {
        const found = await post("api/open", { name: file.name, content: await inBase64(file) });
        open(found.file, found.title, found.text);
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      complain(error.message);
    }
  }

  /** Open what a clipboard or a drop holds; say whether there was anything. */
  function openData(data) {
    const file = data.files[0];
    const text = data.getData("text/plain").trim();
    if (file) openFile(file);
    else if (text) open(text, PASTED);
    return Boolean(file || text);
  }

  async function paste() {
    let text;
    try {
      text = (await navigator.clipboard.readText()).trim();
    } catch {
      area.focus();
      area.select();
      complain("The browser does not let the page read the clipboard; press Ctrl+V in the field below.");
      return;
    }
    if (text) open(text, PASTED);
    else complain("The clipboard holds no text.");
  }

  listen(section, openData);
  const file = make("input", {
    type: "file",
    accept: ".json,.safetensors,application/json",
    "aria-label": "Open a model file",
    hidden: true,
    onchange: () => {
      if (file.files[0]) openFile(file.files[0]);
      file.value = ""; // so that the same file can be opened again
    },
  });
  const chips = presets.map((preset) => {
    const { title, text } = preset;
    const load = () => open(documentOf(preset), title, text);
    return make("button", { type: "button", class: "chip", title: text, onclick: load }, title);
  });
  const element = make(
    "form",
    { class: "controls", "aria-label": "The network", onsubmit: (event) => event.preventDefault() },
    make(
      "fieldset",
      {},
      make("legend", {}, "Open a network"),
      make(
        "div",
        { class: "row" },
        make("button", { type: "button", onclick: () => file.click() }, "Open a file…"),
        make("button", { type: "button", onclick: paste }, "Paste"),
        file,
      ),
      make("p", { class: "soft" }, "JSON or safetensors; or drop it anywhere here. It goes to this machine's own server alone."),
      complaint,
    ),
    make("fieldset", {}, make("legend", {}, "Start from"), make("div", { class: "chips" }, ...chips), about),
    make("fieldset", {}, make("legend", {}, "Model file"), area),
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
  return { element, complain, area };
}

const isTyped = (target) => target instanceof Element && target.closest("input, textarea, select") !== null;

/** Take what is dropped on the page, or pasted outside of a field, while the view is shown. */
function listen(section, openData) {
  const isShown = () => !section.hidden;
  const mark = (dropping) => section.classList.toggle("dropping", dropping);
  document.addEventListener("paste", (event) => {
    if (isShown() && !isTyped(event.target) && openData(event.clipboardData)) event.preventDefault();
  });
  document.addEventListener("dragover", (event) => {
    if (!isShown()) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    mark(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(false);
  });
  document.addEventListener("drop", (event) => {
    if (!isShown()) return;
    event.preventDefault();
    mark(false);
    openData(event.dataTransfer);
  });
}

async function inBase64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let place = 0; place < bytes.length; place += 0x8000) text += String.fromCharCode(...bytes.subarray(place, place + 0x8000));
  return btoa(text);
}

/** A model document with each row of a matrix on a line. */
export function written(network) {
  const fields = Object.entries(network).map(([name, value]) => ` ${JSON.stringify(name)}: ${rows(value)}`);
  return `{\n${fields.join(",\n")}\n}`;
}

function rows(value) {
  if (!Array.isArray(value) || !Array.isArray(value[0])) return JSON.stringify(value).replace(/[,:]/g, "$& ");
  return `[\n${value.map((row) => `  [${row.map((each) => JSON.stringify(each)).join(", ")}]`).join(",\n")}\n ]`;
}

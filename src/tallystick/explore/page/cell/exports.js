// What one can take away of a cell: the model as a file, its certificate, the picture of the string.

import { Refused, postForText } from "../api.js";
import { make } from "../dom.js";
import { saveJson, savePng, saveSvg } from "../export.js";
import { network, question } from "../network.js";

export function exportPanel() {
  const complaint = make("p", { class: "complaint", role: "alert" });
  const picture = () => document.querySelector('svg[data-name="trace"]');
  const certificate = async (lengths) =>
    saveJson(await postForText("api/certificate", question({ lengths })), `certificate-${lengths}.json`);
  const ways = {
    "Cell (JSON)": async () => saveJson(await postForText("api/model", { network: network() }), "cell.json"),
    "Certificate, all lengths": () => certificate("all"),
    "Certificate, even lengths": () => certificate("even"),
    "Picture (SVG)": () => saveSvg(picture(), "trace.svg"),
    "Picture (PNG)": () => savePng(picture(), "trace.png"),
  };
  const buttons = Object.entries(ways).map(([text, save]) =>
    make("button", { type: "button", onclick: () => run(save) }, text),
  );

  async function run(save) {
    complaint.textContent = "";
    try {
      await save();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      complaint.textContent = error.message;
    }
  }

  return make(
    "section",
    { class: "panel", "aria-label": "Take away" },
    make("h2", {}, "Take away"),
    make("div", { class: "row" }, ...buttons),
    complaint,
    make(
      "p",
      { class: "soft" },
      "The cell is a model file for every command; a certificate is verified by ",
      make("code", {}, "tallystick check"),
      ".",
    ),
  );
}

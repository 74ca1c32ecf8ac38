// The view "A cell": controls on one side, and on the other the verdict, a string read step by step, and the accuracy.

import { make } from "../dom.js";
import { accuracyPanel } from "./accuracy.js";
import { controlsPanel } from "./controls.js";
import { exportPanel } from "./exports.js";
import { stringPanel } from "./string.js";
import { verdictPanel } from "./verdict.js";

export function build(section) {
  const controls = controlsPanel();
  const complain = controls.complain;
  section.append(
    make(
      "div",
      { class: "bench" },
      controls.element,
      make(
        "div",
        { class: "findings" },
        verdictPanel(complain),
        stringPanel(complain),
        accuracyPanel(complain),
        exportPanel(),
      ),
    ),
  );
}

// Starts the page: which view is shown, what the address says. A view is built when it is first looked at.

import { Refused } from "./api.js";
import { make, say } from "./dom.js";
import { loadChoices } from "./network.js";
import { addressWith, isHeld, onChange, readAddress, state } from "./state.js";
import { startTheme } from "./theme.js";

const VIEWS = {
  cell: () => import("./cell/view.js"),
  network: () => import("./network/view.js"),
  run: () => import("./run/view.js"),
  table: () => import("./table/view.js"),
  proof: () => import("./proof/view.js"),
};
const sections = new Map(
  [...document.querySelectorAll("main > section")].map((section) => [section.dataset.view, section]),
);
const links = [...document.querySelectorAll("nav.views a")];
const built = new Set();

async function show() {
  const { view } = state;
  for (const [name, section] of sections) section.hidden = name !== view;
  const title = sections.get(view).querySelector("h1").textContent;
  document.title = `${title} – tallystick`;
  if (built.has(view)) return;
  built.add(view);
  const section = sections.get(view);
  try {
    await loadChoices();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    built.delete(view); // to be tried again when the view is next shown
    section.append(make("p", { class: "complaint", role: "alert" }, error.message));
    return;
  }
  const { build } = await VIEWS[view]();
  build(section);
}

function markLinks() {
  for (const link of links) {
    link.href = addressWith({ view: link.dataset.view });
    if (link.dataset.view === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function share() {
  try {
    await navigator.clipboard.writeText(location.href);
    say(
      isHeld()
        ? "The address is copied; whoever opens it sees this view."
        : "The address is copied, but it does not hold the network, which is too large for it: send its file, too.",
      document.querySelector("#share"),
    );
  } catch {
    say("The browser does not let the page copy; the address is in the address bar.", document.querySelector("#share"));
  }
}

// The address holds the state, so the link cannot simply lead to #main.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.querySelector("#main").focus();
});
startTheme(document.querySelector("#theme"));
document.querySelector("#share").addEventListener("click", share);
window.addEventListener("hashchange", () => readAddress());
onChange(["view"], show);
onChange(["*"], markLinks);
readAddress();
markLinks();
show();

// Light, dark, or as the system says; and the colours as a canvas needs them.

const KEY = "tallystick-colours";
const NEXT = { "": "light", light: "dark", dark: "" };
const WORDS = { "": "Auto", light: "Light", dark: "Dark" };
const listeners = [];

export function startTheme(button) {
  let chosen = remembered();
  const apply = () => {
    if (chosen) document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
    button.textContent = WORDS[chosen];
    button.setAttribute("aria-label", `Colours: ${WORDS[chosen]}. Change to ${WORDS[NEXT[chosen]]}`);
    for (const listener of listeners) listener();
  };
  button.addEventListener("click", () => {
    chosen = NEXT[chosen];
    remember(chosen);
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", apply);
  apply();
}

/** Call a function when the colours have changed; a canvas must be drawn again, the rest follows by itself. */
export function onColours(listener) {
  listeners.push(listener);
}

/** The colour behind a name of base.css, resolved for light or dark. */
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// A browser may forbid storage; the choice then lasts as long as the page.
function remembered() {
  try {
    const found = localStorage.getItem(KEY) ?? "";
    return found in NEXT ? found : "";
  } catch {
    return "";
  }
}

function remember(chosen) {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // not remembered
  }
}

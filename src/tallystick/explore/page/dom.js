// Making elements. Styles are set through the object model alone: the page's policy allows no style attributes.

const SVG = "http://www.w3.org/2000/svg";

/** make("p", { class: "soft" }, "text", child): an HTML element; `on…` are listeners, false and null are left out. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A heading's text with letters such as R_N set below the line. */
export function labelled(text) {
  return text
    .split(/(_\w+)/)
    .filter(Boolean)
    .map((part) => (part.startsWith("_") ? make("sub", {}, part.slice(1)) : part));
}

/** Call a function once nothing has happened for a while. */
export function debounced(action, wait) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}

/** Say something briefly, to eyes (beside an element) and to screen readers. */
export function say(text, beside) {
  const said = document.querySelector("#said");
  said.textContent = text;
  if (!beside) return;
  const note = make("span", { class: "note", "aria-hidden": "true" }, text);
  document.body.append(note);
  const place = beside.getBoundingClientRect();
  const left = Math.min(Math.max(8, place.right - note.offsetWidth), innerWidth - note.offsetWidth - 8);
  note.style.left = `${left}px`;
  note.style.top = `${place.bottom + 6}px`;
  setTimeout(() => note.remove(), 2600);
}

/** Whether the reader asked for little motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Call `act(width)` now and whenever the element's width changes. */
export function onWidth(element, act) {
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width && width !== last) act((last = width));
  }).observe(element);
}

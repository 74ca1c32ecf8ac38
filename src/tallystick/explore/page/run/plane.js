// The plane on a canvas: what is drawn in which order, and how pointer, wheel and keys move about in it.

import { make, onWidth } from "../dom.js";
import { onColours } from "../theme.js";
import { linear } from "../charts/scales.js";
import {
  paintAxes,
  paintBorders,
  paintCells,
  paintCounter,
  paintPaths,
  paintRegions,
  paintRing,
  palette,
} from "./layers.js";
import { gestures } from "./gestures.js";
import { moved, zoomed } from "./window.js";

const MARGIN = { left: 50, right: 14, top: 28, bottom: 38 };
const NEARNESS = 12; // pixels
const KEYS = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };

/** `axes` are the columns across and upwards; `move(window)` is told where to look, `choose({ x, y, reach, cells })` where was clicked. */
export function plane({ axes, counter, move, choose }) {
  const canvas = make("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "zoomable plane",
    "data-name": "plane",
    "aria-label":
      `Trained networks in the plane of ${axes[0].title} and ${axes[1].title}. Arrow keys move, plus and minus zoom, ` +
      "Enter loads the one nearest to the middle.",
  });
  const context = canvas.getContext("2d");
  let window = null,
    regions = [],
    cells = null,
    paths = null,
    ring = null;
  let width = 0,
    height = 0,
    asked = false,
    colours = null,
    resized = () => {};

  const scales = () => ({
    x: linear([window.x0, window.x1], [MARGIN.left, width - MARGIN.right]),
    y: linear([window.y0, window.y1], [height - MARGIN.bottom, MARGIN.top]),
    left: MARGIN.left,
    right: width - MARGIN.right,
    top: MARGIN.top,
    bottom: height - MARGIN.bottom,
    width,
    height,
    axes,
    counter,
  });

  /** Draw at the next frame, once however often it is asked for. */
  function redraw() {
    if (asked || !width || !window) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      paint();
    });
  }

  function paint() {
    const area = scales();
    colours ??= palette();
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    context.clip();
    paintRegions(context, area, regions, colours);
    paintCells(context, area, cells, colours);
    paintBorders(context, area, regions, colours);
    paintPaths(context, area, paths, colours);
    paintCounter(context, area, colours);
    paintRing(context, area, ring, colours);
    context.restore();
    paintAxes(context, area, window, colours);
  }

  function chooseAt(px, py) {
    const { x, y } = scales();
    const reach = { x: Math.abs(x.back(NEARNESS) - x.back(0)), y: Math.abs(y.back(NEARNESS) - y.back(0)) };
    choose({
      x: x.back(px),
      y: y.back(py),
      reach,
      cells,
      axes,
      mark: (point) => {
        ring = point;
        redraw();
      },
    });
  }

  const inPlane = (factor, px, py) => {
    const { x, y } = scales();
    move(zoomed(window, factor, x.back(px), y.back(py)));
  };
  gestures(canvas, {
    drag(dx, dy) {
      const { left, right, top, bottom } = scales();
      move(moved(window, -dx / (right - left), dy / (bottom - top)));
    },
    zoom: inPlane,
    click: chooseAt,
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS[event.key]) move(moved(window, ...KEYS[event.key]));
    else if (event.key === "+" || event.key === "=") move(zoomed(window, 0.7));
    else if (event.key === "-") move(zoomed(window, 1 / 0.7));
    else if (event.key === "Enter") {
      const { left, right, top, bottom } = scales();
      chooseAt((left + right) / 2, (top + bottom) / 2);
    } else return;
    event.preventDefault();
  });

  onColours(() => {
    colours = null;
    redraw();
  });
  onWidth(canvas, (found) => {
    width = found;
    height = canvas.clientHeight;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    paintNow();
    resized();
  });
  const paintNow = () => window && paint();

  return {
    canvas,
    size: () => ({ width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom }),
    onResize: (act) => (resized = act),
    zoom: (factor) => move(zoomed(window, factor)),
    setWindow: (found) => ((window = found), redraw()),
    setRegions: (found) => ((regions = found.toSorted((one, other) => one.length - other.length)), redraw()),
    setCells: (found) => ((cells = found), redraw()),
    setPaths: (found) => ((paths = found), redraw()),
  };
}

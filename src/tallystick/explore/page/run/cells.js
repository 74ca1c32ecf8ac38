// The cells in a window: a picture of their density while they are many, each by itself once they are few.

import { get, query } from "../api.js";

const FEW = 5000;
const BIN = 4; // pixels

export async function cellsIn({ ids, window, size, signal, lengthOf }) {
  const where = { setting: ids.join(","), ...window };
  const [nx, ny] = [size.width, size.height].map((pixels) => Math.max(1, Math.min(300, Math.round(pixels / BIN))));
  const { counts, total, inside } = await get(query("api/run/bins", { ...where, nx, ny }), signal);
  const found = { window, total, inside };
  if (inside > FEW) return { ...found, kind: "bins", counts, nx, ny };
  const { points } = await get(query("api/run/points", { ...where, limit: FEW }), signal);
  return {
    ...found,
    kind: "points",
    points: points.map((point) => ({ ...point, length: lengthOf.get(point.setting) })),
  };
}

/** The cell nearest to a place, within some pixels of it; `null` where there is none. */
export async function cellNear({ ids, cells, x, y, reach, axes }) {
  const points = cells?.kind === "points" ? cells.points : (await pointsAround(ids, x, y, reach)).points;
  const [across, up] = axes;
  const distance = ({ values }) => Math.hypot((values[across.name] - x) / reach.x, (values[up.name] - y) / reach.y);
  const best = points.reduce((found, point) => (!found || distance(point) < distance(found) ? point : found), null);
  return best && distance(best) <= 1 ? best : null;
}

function pointsAround(ids, x, y, reach) {
  const window = { x0: x - reach.x, x1: x + reach.x, y0: y - reach.y, y1: y + reach.y };
  return get(query("api/run/points", { setting: ids.join(","), ...window, limit: FEW }));
}

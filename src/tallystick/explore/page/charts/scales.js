// From data to pixels, and round numbers for the axes.

export function linear([from, to], [start, end]) {
  const factor = (end - start) / (to - from || 1);
  const scale = (value) => start + (value - from) * factor;
  scale.back = (place) => from + (place - start) / factor;
  return scale;
}

/** Round numbers in a range, about so many. */
export function ticks(low, high, about = 5) {
  const step = roundStep((high - low) / about);
  if (!(step > 0) || !Number.isFinite(step)) return [low];
  const found = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index += 1) {
    found.push(Number((index * step).toPrecision(12)));
  }
  return found;
}

/** The same, whole numbers only. */
export const wholeTicks = (low, high, about = 5) =>
  ticks(low, high, Math.min(about, Math.max(1, high - low))).filter(Number.isInteger);

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const off = (factor) => Math.abs(Math.log((factor * power) / rough));
  return power * [1, 2, 5, 10].reduce((best, factor) => (off(factor) < off(best) ? factor : best));
}

/** The least and the greatest of some numbers, with a margin; never empty. */
export function span(numbers, margin = 0.06) {
  const finite = numbers.filter(Number.isFinite);
  const low = Math.min(...finite),
    high = Math.max(...finite);
  if (!finite.length) return [-1, 1];
  const extra = (high - low) * margin || Math.abs(high) * margin || 1;
  return [low - extra, high + extra];
}

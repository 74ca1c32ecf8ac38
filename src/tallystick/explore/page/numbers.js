// Numbers as a reader sees them, and roughly where a slider stands for a number that was typed exactly.

/** Write a number in so many digits, with a true minus sign. */
export function shown(value, digits = 6) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(2) : String(Number(value.toPrecision(digits)));
  return signed(text);
}

/** A text whose numbers have true minus signs; a hyphen between words stays one. */
export const signed = (text) => text.replace(/(?<=^|[\s(=,/e])-(?=[\d.])/g, "−");

export const whole = (value) => value.toLocaleString("en-GB");

/** The digits of a whole number in threes; it may be beyond the numbers of this language. */
export const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

/** A percentage as the paper prints it: one decimal, and 100 without one. */
export function percent(value) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(1);
  return text === "100.0" ? "100" : text;
}

/** A percentage that never looks like all, or nothing, when it is not. */
export function finePercent(value) {
  if (value === 0 || value === 100) return String(value);
  for (let digits = 2; digits < 15; digits += 1) {
    const text = value.toFixed(digits);
    if (Number(text) !== 100 && Number(text) !== 0) return text;
  }
  return value < 50 ? "just above 0" : "just below 100";
}

/** Roughly what a text stands for ("1/3", "0x1p-3", "0.1"), or null: where a slider stands. The server reads exactly. */
export function roughly(text) {
  const [upper, lower = "1", ...rest] = text.trim().replaceAll("−", "-").split("/");
  if (rest.length) return null;
  const value = part(upper) / part(lower);
  return Number.isFinite(value) ? value : null;
}

function part(text) {
  const hex = /^\s*([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?\d+))?\s*$/i.exec(text);
  if (!hex) return text.trim() === "" ? NaN : Number(text);
  const [, sign, before, after = "", power = "0"] = hex;
  const digits = parseInt(before + after || "x", 16);
  return (sign === "-" ? -1 : 1) * digits * 2 ** (Number(power) - 4 * after.length);
}

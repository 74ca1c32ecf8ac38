// The columns of Table 2, in its order.

export const COLUMNS = new Map([
  ["train", "Train"],
  ["20", "20 tokens"],
  ["50", "50 tokens"],
]);

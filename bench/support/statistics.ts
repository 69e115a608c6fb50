/** Median of a list of numbers. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** A figure as `median (min … max)`. */
export function spread(values: readonly number[], digits = 2): string {
  const format = (value: number) => value.toFixed(digits);
  return `${format(median(values))} (${format(Math.min(...values))} … ${format(Math.max(...values))})`;
}

/** A figure of many short rounds as `median (lower quartile … upper quartile)`. */
export function quartiles(values: readonly number[], digits = 2): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(digits);
  return `${median(values).toFixed(digits)} (${at(0.25)} … ${at(0.75)})`;
}

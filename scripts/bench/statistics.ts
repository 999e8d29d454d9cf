/** The middle value; for an even count the lower of the two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the given share (0..1) of the values lies, by nearest rank. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return sorted[index] ?? Number.NaN;
}

/** A figure for people, with about three meaningful digits. */
export function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

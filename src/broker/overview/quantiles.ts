/** How many observations were at most as large as each bound. */
export type Buckets = ReadonlyMap<number, number>;

/** What was observed between two looks at the same histogram. */
export function bucketIncreases(before: Buckets, after: Buckets): Buckets {
  return new Map([...after].map(([bound, count]) => [bound, Math.max(0, count - (before.get(bound) ?? 0))]));
}

/**
 * A quantile of observations, as Prometheus reads it from their buckets: evenly spread within a bucket.
 * @param share From 0 to 1.
 * @returns null without observations; the largest finite bound when the quantile lies above it
 */
export function quantileOf(buckets: Buckets, share: number): number | null {
  const sorted = [...buckets].toSorted(([left], [right]) => left - right);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total === 0) return null;
  const rank = share * total;
  let [lowerBound, lowerCount] = [0, 0];
  for (const [bound, count] of sorted) {
    if (count >= rank) {
      if (bound === Infinity) return lowerBound;
      const inBucket = count - lowerCount;
      return inBucket === 0 ? bound : lowerBound + ((bound - lowerBound) * (rank - lowerCount)) / inBucket;
    }
    [lowerBound, lowerCount] = [bound, count];
  }
  return lowerBound;
}

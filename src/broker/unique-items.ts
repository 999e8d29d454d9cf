/**
 * Whether no two items of an array are the same JSON value; the order of an object's keys does not count. Takes time in
 * proportion to the size of the array.
 * @param items JSON values, nested no deeper than the stack allows.
 */
export function areUnique(items: readonly unknown[]): boolean {
  const plain = new Set<unknown>();
  const nested = new Set<string>();
  for (const item of items) {
    if (typeof item === 'object' && item !== null) nested.add(canonicalText(item));
    else plain.add(item);
  }
  return plain.size + nested.size === items.length;
}

/** The same text for the same value. */
function canonicalText(value: unknown): string {
  // Infinity, for one, which a parser makes of 1e999 and JSON has no word for.
  if (typeof value === 'number') return String(value === 0 ? 0 : value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`).join(',')}}`;
}

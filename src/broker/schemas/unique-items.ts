/** What comparing items needs in addition to the items. */
export interface ItemComparison {
  /** Called with the cost of each comparison. Steps of the budget for validation. */
  spend(steps: number): void;
  /** A text, the same for equal numbers; undefined where the number itself will do. */
  numberText(value: number, container: object, key: string | number): string | undefined;
}

/** The cost of one value: about as much as writing it as a text takes. Steps. */
const stepsPerValue = 200;
const stepsPerCharacter = 2;

/**
 * Whether no two items of an array are the same JSON value. The order of an object's keys does not count. Takes time in
 * proportion to the size of the array.
 * @param items JSON values, nested no deeper than the stack allows.
 */
export function areUnique(items: readonly unknown[], comparison: ItemComparison): boolean {
  const plain = new Set<unknown>();
  const texts = new Set<string>();
  for (const [index, item] of items.entries()) {
    const text = textOf(item, items, index, comparison);
    if (text === undefined) plain.add(item);
    else texts.add(text);
  }
  return plain.size + texts.size === items.length;
}

/** A text for an item that is compared by its text; undefined for one that is compared by its value. */
function textOf(
  item: unknown,
  items: readonly unknown[],
  index: number,
  comparison: ItemComparison,
): string | undefined {
  if (typeof item === 'object' && item !== null) return canonicalText(item, items, index, comparison);
  comparison.spend(stepsPerValue);
  return typeof item === 'number' ? comparison.numberText(item, items, index) : undefined;
}

/** A text, the same for equal values. */
function canonicalText(value: unknown, container: object, key: string | number, comparison: ItemComparison): string {
  comparison.spend(stepsPerValue);
  // JSON.stringify cannot write every number: a parser reads 1e999 as Infinity.
  if (typeof value === 'number') return comparison.numberText(value, container, key) ?? String(value === 0 ? 0 : value);
  if (typeof value === 'string') comparison.spend(value.length * stepsPerCharacter);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item, index) => canonicalText(item, value, index, comparison)).join(',')}]`;
  }
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  const texts = members.map(([name, member]) => {
    comparison.spend(name.length * stepsPerCharacter);
    return `${JSON.stringify(name)}:${canonicalText(member, value, name, comparison)}`;
  });
  return `{${texts.join(',')}}`;
}

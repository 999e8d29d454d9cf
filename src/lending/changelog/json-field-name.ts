/** A field name as written in JSON: as the first field of its object, and after another field. */
export interface JsonFieldName {
  readonly first: string;
  readonly next: string;
}

const cache = new Map<string, JsonFieldName>();

/** How many names are remembered: those of the code, and the custom fields of one organisation. More start again. */
export const cachedNamesMaximum = 5_000;

/**
 * The written form of a field name, built once per name. Every command writes several hundred fields of about a hundred
 * names. Building the names each time took an eighth of all the memory that a command needs.
 */
export function jsonFieldName(name: string): JsonFieldName {
  const cached = cache.get(name);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(name);
  const fieldName = { first: `${text}:`, next: `,${text}:` };
  if (cache.size >= cachedNamesMaximum) cache.clear();
  cache.set(name, fieldName);
  return fieldName;
}

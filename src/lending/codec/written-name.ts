/** The name of a field as it stands in JSON: as the first one of its object, and behind another one. */
export interface WrittenName {
  readonly first: string;
  readonly next: string;
}

const known = new Map<string, WrittenName>();

/**
 * Every command writes several hundred fields of some hundred names: put together anew each time, the names alone were
 * an eighth of all memory that a command needs.
 * @param name Of a field that the code names, not one that was sent; it needs no escaping.
 */
export function writtenName(name: string): WrittenName {
  const written = known.get(name);
  if (written !== undefined) return written;
  const made = { first: `"${name}":`, next: `,"${name}":` };
  known.set(name, made);
  return made;
}

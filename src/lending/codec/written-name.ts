/** A field name as written in JSON: as the first field of its object, and after another field. */
export interface WrittenName {
  readonly first: string;
  readonly next: string;
}

const known = new Map<string, WrittenName>();

/**
 * The written form of a field name, built once per name. Every command writes several hundred fields of about a hundred
 * names. Building the names each time took an eighth of all the memory that a command needs.
 * @param name A field name from the code, not from a request: it needs no escaping.
 */
export function writtenName(name: string): WrittenName {
  const written = known.get(name);
  if (written !== undefined) return written;
  const made = { first: `"${name}":`, next: `,"${name}":` };
  known.set(name, made);
  return made;
}

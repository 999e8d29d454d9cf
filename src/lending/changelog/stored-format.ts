/**
 * The number of the format of the records of accounts. A text of another one is refused: a process must not decide on
 * what it may misread.
 */
export const storedFormat = 4;

/**
 * Parses a stored text of the present format.
 * @param field A field that must be an object.
 * @throws Error when the text is of another format, or not stored by this program
 */
export function parseStored<Stored extends { readonly format: number }>(text: string, field: keyof Stored & string) {
  const stored = JSON.parse(text) as Partial<Stored>;
  requireFormat(stored);
  if (typeof stored[field] !== 'object' || stored[field] === null) throw new Error(`it has no ${field}`);
  return stored as Stored;
}

/** @throws Error when a parsed text is not of the present format */
export function requireFormat({ format }: { readonly format?: number }): void {
  if (format === storedFormat) return;
  throw new Error(`it is of format ${String(format)}, and this version reads format ${storedFormat}`);
}

/** The number of the format of a stored text, which begins with it; undefined when the text does not. */
export function formatOf(text: string): number | undefined {
  const digits = /^\{"format":(\d{1,9})\b/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

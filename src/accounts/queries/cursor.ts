import type { Position, Sorting } from './search-query.ts';

/**
 * The cursor of a search: where its next page begins. It names the order too, because a place in one order means
 * nothing in another.
 */

/** The cursors that begin with the first page. */
const firstCursors: readonly string[] = ['_', 'EMPTY'];

/** The longest cursor that is read. Characters. */
const cursorCharactersMaximum = 2_000;

/** The cursor of the page after a position; empty when there is no such page. */
export function writeCursor({ field, descending }: Sorting, position: Position | null): string {
  if (position === null) return '';
  const { value, identity } = position;
  return Buffer.from(JSON.stringify([field, descending, value, ...identity])).toString('base64url');
}

/**
 * The position that a cursor stands for: `first` for the beginning.
 * @returns undefined when it is no cursor of a search of this resource in this order
 */
export function readCursor(
  text: string,
  { field, descending }: Sorting,
  resource: 'loans' | 'transactions',
): Position | 'first' | undefined {
  if (firstCursors.includes(text)) return 'first';
  const bytes = Buffer.from(text, 'base64url');
  // Decoding ignores what is no letter of the encoding.
  if (text.length > cursorCharactersMaximum || bytes.toString('base64url') !== text) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [writtenField, writtenDirection, value, loanId, number, ...rest] = parts as unknown[];
  if (writtenField !== field || writtenDirection !== descending || rest.length > 0) return undefined;
  if ((value !== null && typeof value !== 'string') || typeof loanId !== 'string') return undefined;
  if (resource === 'loans') return number === undefined ? { value, identity: [loanId] } : undefined;
  return typeof number === 'number' && Number.isSafeInteger(number) ? { value, identity: [loanId, number] } : undefined;
}

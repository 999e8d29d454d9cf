/**
 * Cursors: positions in partitions as the API writes them.
 * In: the texts of cursors. Out: offsets, distances between cursors, and whether a cursor can still be read.
 * Start with the form of an offset below.
 */

import { LendstreamError } from '../../errors.ts';
import type { Offset } from '../../ports/event-log.ts';

/**
 * Offsets and partitions as the API writes them. Clients treat both as opaque text. An offset names the last processed
 * event, so reading continues at the next one; {@link beforeFirst} is the position before the first event.
 *
 * Written: version `001`, time line `0001` (there is only one), offset in 18 digits: `001-0001-000000000000000388`;
 * before the first event `001-0001--1`. Read: this form, plain numbers as old clients send them (`388`, `0388`, `-1`),
 * and the word BEGIN in any letter case.
 */
export const beforeFirst: Offset = -1;

const prefix = '001-0001-';
const offsetDigits = 18;
const offsetForm = /^(?:001-0001-(?=-1$|\d{18}$))?(-1|\d{1,18})$/;
/** What nearly every client sends back; it is read in half the time of the other forms. */
const writtenForm = /^001-0001-\d{18}$/;

/**
 * Writes an offset as the API does.
 * @param offset The last processed offset, or {@link beforeFirst}.
 */
export function formatOffset(offset: Offset): string {
  return offset < 0 ? `${prefix}-1` : prefix + String(offset).padStart(offsetDigits, '0');
}

/** Whether a text is the word BEGIN: the position before the first event that is still there. */
export function isBegin(text: string): boolean {
  return /^begin$/i.test(text);
}

/**
 * The inverse of {@link formatOffset}, which also reads the older forms.
 * @throws UNPROCESSABLE when the text is no offset, names another time line, or is beyond what a log can count
 */
export function parseOffset(text: string): Offset {
  if (isBegin(text)) return beforeFirst;
  const digits = writtenForm.test(text) ? text.slice(prefix.length) : offsetForm.exec(text)?.[1];
  const offset = digits === undefined ? Number.NaN : Number(digits);
  if (!Number.isSafeInteger(offset)) throw new LendstreamError('UNPROCESSABLE', `invalid offset ${text}`);
  return offset;
}

/** The partition that a decimal string such as `"0"` names; undefined when the text names none. */
export function parsePartition(text: string): number | undefined {
  return /^(0|[1-9]\d{0,5})$/.test(text) ? Number(text) : undefined;
}

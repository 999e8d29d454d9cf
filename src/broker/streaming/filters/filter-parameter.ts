import { LendstreamError } from '../../../errors.ts';
import { condition, eventFilter, type Condition, type EventFilter } from './event-filter.ts';
import { pointerStep, type PointerStep } from './json-pointer.ts';

/** The most filters of one stream. */
export const filtersMaximum = 10;

/** The most characters of one filter. */
export const filterLengthMaximum = 1_024;

/** Half of a pair that stands for one character. No text in UTF-8 contains it. */
const halfCharacter = /\p{Surrogate}/u;

/**
 * Reads `filter`: one text or a list of them, each a JSON Pointer, `=` and the value that an event must have there. In
 * a pointer `~2` stands for `=`, beside `~0` and `~1`.
 * @returns undefined when there is none
 * @throws MALFORMED_REQUEST for what is no filter, with its place; UNPROCESSABLE for too many, and for one that is too
 *   long
 */
export function readFilter(parameter: unknown): EventFilter | undefined {
  const conditions = readConditions(parameter);
  return conditions.length === 0 ? undefined : eventFilter(conditions);
}

/** The conditions of the same texts. @throws as {@link readFilter} */
export function readConditions(parameter: unknown): Condition[] {
  if (parameter === undefined || parameter === null || parameter === '') return [];
  const texts: readonly unknown[] = Array.isArray(parameter) ? parameter : [parameter];
  if (texts.length > filtersMaximum) {
    const detail = `A stream has at most ${filtersMaximum} filters, but ${texts.length} were given`;
    throw new LendstreamError('UNPROCESSABLE', detail);
  }
  return texts.map(readCondition);
}

function readCondition(text: unknown, index: number): Condition {
  const place = index + 1;
  if (typeof text !== 'string') {
    const form = "'filter' parameter should be texts like /metadata/event_type=orders.order-placed";
    throw new LendstreamError('MALFORMED_REQUEST', `${form}, but filter ${place} was ${JSON.stringify(text)}`);
  }
  const characters = text.length > filterLengthMaximum ? Array.from(text).length : text.length;
  if (characters > filterLengthMaximum) {
    const detail = `Filter ${place} has ${characters} characters, and may have ${filterLengthMaximum}`;
    throw new LendstreamError('UNPROCESSABLE', detail);
  }
  const wrong = (at: number, reason: string): LendstreamError => {
    const detail = `Filter ${place}, '${text}', is wrong at character ${at + 1}: ${reason}`;
    return new LendstreamError('MALFORMED_REQUEST', detail);
  };
  if (!text.startsWith('/')) throw wrong(0, 'a JSON Pointer begins with /');
  const equals = text.indexOf('=');
  if (equals < 0) throw wrong(text.length, 'an = and a value must follow');
  const halfAt = text.search(halfCharacter);
  if (halfAt >= 0) throw wrong(halfAt, 'it is half of a character');
  const value = text.slice(equals + 1);
  if (!value.startsWith('"')) return condition(pointerOf(text, equals, wrong), value, false);
  const quoted = stringOf(value);
  if (quoted === undefined) throw wrong(equals + 1, 'a value that begins with " is a JSON string');
  return condition(pointerOf(text, equals, wrong), quoted, true);
}

const escapes: Readonly<Record<string, string>> = { '~0': '~', '~1': '/', '~2': '=' };

function pointerOf(
  text: string,
  end: number,
  wrong: (at: number, reason: string) => LendstreamError,
): readonly PointerStep[] {
  const pointer = text.slice(0, end);
  const wrongAt = pointer.search(/~(?![012])/);
  if (wrongAt >= 0) throw wrong(wrongAt, '~ must be followed by 0 (for ~), 1 (for /) or 2 (for =)');
  const names = pointer.slice(1).split('/');
  return names.map((name) => pointerStep(name.replace(/~[012]/g, (escape) => escapes[escape] ?? escape)));
}

/** What a JSON string says, if it is one. */
function stringOf(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' && !halfCharacter.test(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

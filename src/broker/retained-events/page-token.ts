import { LendstreamError } from '../../errors.ts';
import type { Offset } from '../../ports/event-log.ts';
import type { Direction } from './partition-search.ts';

/** Where a page begins: a direction, and a position of each partition, by number from the first of the request. */
export interface Place {
  readonly direction: Direction;
  /** The offset that a forward page reads first; a backward page reads those below it. */
  readonly positions: readonly Offset[];
}

/** Offsets have fewer digits in it, so that a place of a thousand partitions fits into a URL. */
const radix = 36;

const form = /^[bf](?:\.[\da-z]{1,11}){1,1000}$/;

export function writeToken({ direction, positions }: Place): string {
  return [direction[0], ...positions.map((offset) => offset.toString(radix))].join('.');
}

/** @throws MALFORMED_REQUEST for a text that is no token */
export function readToken(token: string): Place {
  if (!form.test(token)) throw wrongToken();
  const [letter, ...texts] = token.split('.');
  const positions = texts.map((text) => Number.parseInt(text, radix));
  if (!positions.every(Number.isSafeInteger)) throw wrongToken();
  return { direction: letter === 'f' ? 'forward' : 'backward', positions };
}

function wrongToken(): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', "'token' parameter should be the token of another page");
}

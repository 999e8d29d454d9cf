import { LendstreamError } from '../../errors.ts';
import type { Subscription } from '../definitions/subscription.ts';

/**
 * A place in the list of subscriptions by id, as the parameter `token` names it: `W` and the id of the first
 * subscription of a page, or `B` and that of the first one after it. It stays valid whatever is created or deleted.
 */
interface Place {
  readonly isForward: boolean;
  /** Empty for the beginning of the list. */
  readonly id: string;
}

export interface TokenPage {
  /** By id, ascending. */
  readonly subscriptions: readonly Subscription[];
  /** The token of the page before; undefined when there is none. */
  readonly previous?: string;
  /** The token of the page after; undefined when there is none. */
  readonly next?: string;
}

/** The longest id in a token. Characters. */
const idCharactersMaximum = 64;

const tokenPattern = new RegExp(`^[BW][\\da-f-]{1,${idCharactersMaximum}}$`);

/**
 * One page of subscriptions.
 * @param subscriptions By id, ascending.
 * @param token That of an earlier page; empty for the first page.
 * @throws MALFORMED_REQUEST when it is no token
 */
export function pageAt(subscriptions: readonly Subscription[], token: string, limit: number): TokenPage {
  const { isForward, id } = readToken(token);
  const place = placeOf(subscriptions, id);
  const start = isForward ? place : Math.max(0, place - limit);
  const end = isForward ? Math.min(subscriptions.length, place + limit) : place;
  const first = subscriptions[start];
  const following = subscriptions[end];
  return {
    subscriptions: subscriptions.slice(start, end),
    ...(start > 0 ? { previous: `B${first?.id ?? id}` } : {}),
    ...(following === undefined ? {} : { next: `W${following.id}` }),
  };
}

/** @throws MALFORMED_REQUEST */
function readToken(token: string): Place {
  if (token === '') return { isForward: true, id: '' };
  if (!tokenPattern.test(token)) {
    const detail = `'token' parameter should be empty or the token of another page, but was '${token}'`;
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  return { isForward: token.startsWith('W'), id: token.slice(1) };
}

/** The index of the first subscription whose id is not below this one. */
function placeOf(subscriptions: readonly Subscription[], id: string): number {
  let [low, high] = [0, subscriptions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((subscriptions[middle]?.id ?? '') < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

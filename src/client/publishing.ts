import { type BackOffOptions, backOffMilliseconds } from './back-off.ts';
import { monotonic, newId, random, sleep, timestamp } from './clock.ts';
import type { Connection } from './connection.ts';
import { LendstreamError } from './errors.ts';
import { parseExact, stringifyExact } from './exact-json.ts';
import type { EventMetadata, PublishedItem } from './types.ts';

export interface PublishOptions extends BackOffOptions {
  /** How long events that are not stored are sent again. Milliseconds, default 60 seconds; 0 sends them once. */
  readonly retryMilliseconds?: number | undefined;
  /** Ends the repetitions. */
  readonly signal?: AbortSignal | undefined;
  /** Kept with the events, as `metadata.flow_id`. */
  readonly flowId?: string | undefined;
  /** W3C's trace context, kept with the events, as `metadata.span_ctx.traceparent`. */
  readonly traceparent?: string | undefined;
  /** Told each failure before its events are sent again. */
  readonly onRetry?: ((failure: LendstreamError | readonly PublishedItem[], milliseconds: number) => void) | undefined;
}

export interface DeletionOptions extends PublishOptions {
  /** The partition of the keys, for event types whose producers name it. */
  readonly partition?: string | undefined;
}

export const retryMillisecondsDefault = 60_000;

/**
 * What became of an event that is not known to be stored:
 * - `rejected`: it breaks a rule, and always will
 * - `not stored`: the service did not take it for as long as it was sent
 * - `unknown`: there was no response that says so. It may be stored or not. Send it again with the same `eid`: then it
 *   is there once or twice, and on an event type with a deduplication window once
 */
export interface UnstoredEvent {
  /** Its place in the list that was published, from 0. */
  readonly index: number;
  readonly eid: string;
  readonly outcome: 'rejected' | 'not stored' | 'unknown';
  /** Why, for people. */
  readonly detail: string;
}

/** Some events of a list are not known to be stored. The others are. */
export class PublishError extends Error {
  override readonly name: string = 'PublishError';
  readonly events: readonly UnstoredEvent[];

  constructor(events: readonly UnstoredEvent[]) {
    const [first] = events;
    super(
      `${events.length === 1 ? 'An event is' : `${events.length} events are`} not known to be stored. ` +
        `The first one is ${first?.outcome}: ${first?.detail}`,
    );
    this.events = events;
  }
}

/** The metadata that a producer sets. */
export type NewMetadata = Partial<
  Pick<EventMetadata, 'eid' | 'occurred_at' | 'partition' | 'partition_compaction_key' | 'flow_id' | 'span_ctx'>
>;

/**
 * An event of the category `business` or `data`, with the metadata that it needs: a new `eid`, and the time of now.
 * Make it once and send it as often as necessary: the `eid` is what identifies it.
 */
export function newEvent<Fields extends object>(
  fields: Fields,
  metadata: NewMetadata = {},
): Fields & { readonly metadata: NewMetadata & Pick<EventMetadata, 'eid' | 'occurred_at'> } {
  return { metadata: { eid: newId(), occurred_at: timestamp(), ...metadata }, ...fields };
}

/** The item of an event whose outcome the log did not report. */
const unknownDetail = 'timed out';

interface SentEvent {
  readonly index: number;
  readonly text: string;
  /** The last response about it. */
  item?: PublishedItem;
  /** Whether any attempt may have stored it without a response that says so. */
  isUnknown: boolean;
  failure?: string;
}

/**
 * Publishes events that are already JSON texts, and sends again those that are not stored, as they are.
 * @throws PublishError when some are not known to be stored in the end, LendstreamError when the service refuses all of
 *   them at once (401, 403, 404, 413 ...) and none is stored
 */
export async function publishTexts(
  connection: Connection,
  eventType: string,
  texts: readonly string[],
  options: PublishOptions = {},
  resource: 'events' | 'deleted-events' = 'events',
): Promise<void> {
  const { retryMilliseconds = retryMillisecondsDefault, signal, flowId, traceparent, onRetry } = options;
  const path = `/event-types/${encodeURIComponent(eventType)}/${resource}`;
  const headers = {
    ...(flowId === undefined ? {} : { 'X-Flow-Id': flowId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  const deadline = monotonic() + retryMilliseconds;
  const rejected: SentEvent[] = [];
  let left: SentEvent[] = texts.map((text, index) => ({ index, text, isUnknown: false }));
  for (let failures = 1; left.length > 0; failures += 1) {
    const failure = await send(connection, path, headers, left, signal);
    if (failure === undefined) break;
    // An earlier attempt may have stored some, so the response to this one is not the whole truth.
    if (failure instanceof LendstreamError && !failure.isRetryable) {
      if (failures === 1) throw failure;
      break;
    }
    if (!(failure instanceof LendstreamError)) {
      rejected.push(...left.filter(({ item }) => isRejected(item)));
      left = left.filter(({ item }) => item?.publishing_status !== 'submitted' && !isRejected(item));
    }
    if (left.length === 0) break;
    const least = failure instanceof LendstreamError ? failure.retryAfterMilliseconds : 0;
    const wait = backOffMilliseconds(failures, random(), options, least);
    if (monotonic() + wait > deadline || isAborted(signal)) break;
    // Events that were only held back by others of their list can be stored at once.
    const areAborted = left.every(({ item }) => item?.publishing_status === 'aborted') && rejected.length > 0;
    if (areAborted && failures === 1) continue;
    onRetry?.(failure, wait);
    await sleep(wait, signal);
    if (isAborted(signal)) break;
  }
  const unstored = [...rejected, ...left].filter(({ item }) => item?.publishing_status !== 'submitted');
  if (unstored.length > 0) throw new PublishError(unstored.map(unstoredEvent).sort((a, b) => a.index - b.index));
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** Sends events once, and notes what is answered about each. @returns undefined when all are stored */
async function send(
  connection: Connection,
  path: string,
  headers: Readonly<Record<string, string>>,
  events: readonly SentEvent[],
  signal: AbortSignal | undefined,
): Promise<LendstreamError | readonly PublishedItem[] | undefined> {
  const body = `[${events.map(({ text }) => text).join(',')}]`;
  const query = { item_details: 'retryable' };
  try {
    const text = await connection.requestText('POST', path, { body, headers, query, signal });
    const items = itemsIn(text);
    if (items === undefined) {
      for (const event of events) event.item = submitted;
      return undefined;
    }
    return note(events, items);
  } catch (error) {
    if (!(error instanceof LendstreamError)) throw error;
    const items = error.status === 422 ? error.items : undefined;
    if (items !== undefined) return note(events, items as readonly PublishedItem[]);
    for (const event of events) {
      event.isUnknown ||= error.isRetryable;
      event.failure = error.message;
    }
    return error;
  }
}

const submitted: PublishedItem = { publishing_status: 'submitted', detail: '', step: 'none', eid: '', partition: null };

function note(events: readonly SentEvent[], items: readonly PublishedItem[]): readonly PublishedItem[] {
  for (const [at, event] of events.entries()) {
    const item = items[at];
    if (item === undefined) continue;
    event.item = item;
    event.failure = item.detail;
    if (item.publishing_status === 'failed' && item.detail === unknownDetail) event.isUnknown = true;
  }
  return items;
}

function itemsIn(text: string): readonly PublishedItem[] | undefined {
  return text === '' ? undefined : (parseExact(text) as readonly PublishedItem[]);
}

function isRejected(item: PublishedItem | undefined): boolean {
  return item !== undefined && item.publishing_status !== 'submitted' && item.retryable === false;
}

function unstoredEvent({ index, text, item, isUnknown, failure = '' }: SentEvent): UnstoredEvent {
  const eid = item?.eid ?? eidIn(text);
  if (isRejected(item)) return { index, eid, outcome: 'rejected', detail: item?.detail ?? '' };
  const detail = failure === '' ? 'Another event of the list was rejected' : failure;
  return { index, eid, outcome: isUnknown ? 'unknown' : 'not stored', detail };
}

function eidIn(text: string): string {
  const { metadata } = JSON.parse(text) as { readonly metadata?: { readonly eid?: string } };
  return metadata?.eid ?? '';
}

/** The JSON of an event. @throws TypeError for what is no object */
export function eventText(event: object): string {
  const text = stringifyExact(event);
  if (!text.startsWith('{')) throw new TypeError('An event must be an object');
  return text;
}

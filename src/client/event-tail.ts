import { type BackOffOptions, backOffMilliseconds } from './back-off.ts';
import { random, sleep } from './clock.ts';
import type { Connection } from './connection.ts';
import { LendstreamError } from './errors.ts';
import { EventStream } from './event-stream.ts';
import type { Notice } from './notices.ts';
import { afterStream } from './stream-ends.ts';
import type { AnyEvent, Partition, Position, StreamBatch, StreamParameters } from './types.ts';
import { positionsText } from './position-texts.ts';

/**
 * Where a tail begins: with the first event, after the last one, with so many of the latest events of each partition,
 * with the first event of a time such as `2026-01-31T12:00:00Z`, or after these positions.
 */
export type TailStart = 'begin' | 'end' | { readonly last: number } | { readonly time: string } | readonly Position[];

export interface TailOptions {
  /** Default: `end`. */
  readonly from?: TailStart;
  /** Only events that meet all of them: see {@link filterFor}. */
  readonly filter?: readonly string[];
  /** Ends the tail after so many events. */
  readonly eventsMaximum?: number;
  /** Ends the tail when every partition had no event for about this many seconds. */
  readonly quietSeconds?: number;
  /** Ends the tail. */
  readonly signal?: AbortSignal;
  readonly silenceMilliseconds?: number;
  readonly backOff?: BackOffOptions;
  readonly onNotice?: (notice: Notice) => void;
}

/** Some events of one partition. */
export interface TailBatch<Event> {
  readonly partition: string;
  /** Of the last event. */
  readonly offset: string;
  readonly events: readonly Event[];
}

const batchLimit = 100;
const responseMilliseconds = 60_000;
const silenceMillisecondsDefault = 60_000;

/**
 * Follows an event type without a subscription: nothing is committed, and every caller gets all events. A stream that
 * ends is followed by another one, which begins after the last event; partitions that were added are read from their
 * first event.
 * @throws LendstreamError for an unknown event type, or positions whose events have expired
 */
export async function* tail<Event = AnyEvent>(
  connection: Connection,
  eventType: string,
  options: TailOptions = {},
): AsyncGenerator<TailBatch<Event>, void, undefined> {
  const path = `/event-types/${encodeURIComponent(eventType)}`;
  const { from = 'end', eventsMaximum = 0, quietSeconds = 0, onNotice } = options;
  const stopped = options.signal ?? new AbortController().signal;
  const positions = new Map<string, string>();
  for (const { partition, offset } of await startOf(connection, path, from)) positions.set(partition, offset);
  let events = 0;
  let failures = 0;
  while (!stopped.aborted) {
    let wait = `The stream has ended`;
    let stream: EventStream<Omit<StreamBatch, 'cursor'> & { readonly cursor: Position }> | undefined;
    try {
      if (failures > 0) await addPartitions(connection, path, positions);
      stream = await EventStream.open(
        connection,
        'GET',
        `${path}/events?${parametersOf(options, eventsMaximum - events, quietSeconds)}`,
        {
          headers: {
            'X-Nakadi-Cursors': positionsText([...positions].map(([partition, offset]) => ({ partition, offset }))),
          },
        },
        {
          stopped,
          silenceMilliseconds: options.silenceMilliseconds ?? silenceMillisecondsDefault,
          openMilliseconds: responseMilliseconds,
        },
      );
      onNotice?.({ kind: 'opened', streamId: '' });
      for (let line = await stream.next(); line !== undefined; line = await stream.next()) {
        const { cursor, events: delivered = [], info } = line;
        if (delivered.length > 0) {
          yield { partition: cursor.partition, offset: cursor.offset, events: delivered as readonly Event[] };
          events += delivered.length;
          failures = 0;
        }
        positions.set(cursor.partition, cursor.offset);
        if (info?.code !== undefined) {
          onNotice?.({ kind: 'ended', code: info.code, detail: info.debug });
          if (info.code === 'stream_limit' || info.code === 'keep_alive_limit') return;
          if (afterStream(info.code) === 'fail') throw new LendstreamError(404, info.debug, { isRetryable: false });
        }
      }
    } catch (error) {
      if (stopped.aborted) return;
      if (!(error instanceof LendstreamError) || !error.isRetryable) throw error;
      wait = error.message;
    } finally {
      stream?.close();
    }
    failures += 1;
    if (stopped.aborted) return;
    const milliseconds = backOffMilliseconds(failures, random(), options.backOff);
    onNotice?.({ kind: 'waiting', reason: wait, milliseconds });
    await sleep(milliseconds, stopped);
  }
}

function parametersOf({ filter = [] }: TailOptions, eventsLeft: number, quietSeconds: number): string {
  const parameters = new URLSearchParams({ batch_limit: String(batchLimit), batch_flush_timeout: '1' } satisfies {
    readonly [Name in keyof StreamParameters]: string;
  });
  if (eventsLeft > 0) {
    parameters.set('stream_limit', String(eventsLeft));
    parameters.set('batch_limit', String(Math.min(batchLimit, eventsLeft)));
  }
  if (quietSeconds > 0) parameters.set('stream_keep_alive_limit', String(quietSeconds));
  for (const each of filter) parameters.append('filter', each);
  return parameters.toString();
}

/** The position of each partition, so that a stream that breaks off can continue. */
async function startOf(connection: Connection, path: string, from: TailStart): Promise<readonly Position[]> {
  if (Array.isArray(from)) return from as readonly Position[];
  const start = from as Exclude<TailStart, readonly Position[]>;
  if (typeof start === 'object' && 'time' in start) {
    return (await connection.retried('POST', `${path}/cursors-at`, { body: { time: start.time } })) as Position[];
  }
  const partitions = (await connection.retried('GET', `${path}/partitions`)) as readonly Partition[];
  if (start === 'begin') return partitions.map(({ partition }) => ({ partition, offset: 'BEGIN' }));
  const ends = partitions.map(({ partition, newest_available_offset: offset }) => ({ partition, offset }));
  if (start === 'end') return ends;
  return lastOf(connection, path, ends, start.last);
}

/** The positions before the latest events of each partition, as far as there are so many. */
async function lastOf(
  connection: Connection,
  path: string,
  ends: readonly Position[],
  count: number,
): Promise<readonly Position[]> {
  const begins = ends.map(({ partition }) => ({ partition, offset: 'BEGIN' }));
  const lags = (await connection.retried('POST', `${path}/cursors-lag`, { body: begins })) as readonly Partition[];
  const shifts = ends.map(({ partition, offset }) => {
    const events = lags.find((each) => each.partition === partition)?.unconsumed_events ?? 0;
    return { partition, offset, shift: -Math.min(count, events) };
  });
  return (await connection.retried('POST', `${path}/shifted-cursors`, { body: shifts })) as readonly Position[];
}

async function addPartitions(connection: Connection, path: string, positions: Map<string, string>): Promise<void> {
  const partitions = (await connection.request('GET', `${path}/partitions`)) as readonly Partition[];
  for (const { partition } of partitions) if (!positions.has(partition)) positions.set(partition, 'BEGIN');
}

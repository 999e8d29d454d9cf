import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LineHeads } from '../../bench/load/line-heads.ts';
import { cursorOf, type LineCursor } from '../../bench/load/open-stream.ts';
import { eventsPerBatch } from '../../bench/events.ts';
import { post } from './client.ts';
import type { Counts } from './counts.ts';
import { sentAt } from './publishing.ts';

/** A stream of the load. */
export interface StreamSettings {
  readonly url: string;
  readonly subscription: string;
  /** How long one stream is read before it is closed and opened again. Milliseconds. */
  readonly lifeMilliseconds: number;
}

/** Between two commits of a stream. Milliseconds. */
const commitPauseMilliseconds = 100;

/** Between the end of a stream and the next one. Milliseconds. */
const reopenPauseMilliseconds = 200;

const query = `batch_limit=${eventsPerBatch}&batch_flush_timeout=1&max_uncommitted_events=20000`;
const offsetDigits = 18;

/** Reads streams of a subscription one after another, for as long as the process lives, and commits what they bring. */
export async function stream(settings: StreamSettings, counts: Counts): Promise<void> {
  /** The last offset of each partition that was counted. */
  const counted = new Map<string, number>();
  for (;;) {
    try {
      await readOne(settings, counts, counted);
    } catch (error) {
      counts.fail(error);
    }
    await sleep(reopenPauseMilliseconds);
  }
}

/** Reads one stream for its time. @throws Error when it is refused, or ends earlier */
async function readOne(
  { url, subscription, lifeMilliseconds }: StreamSettings,
  counts: Counts,
  counted: Map<string, number>,
): Promise<void> {
  const response = await open(`${url}/subscriptions/${subscription}/events?${query}`);
  const headers = { 'X-Nakadi-StreamId': String(response.headers['x-nakadi-streamid']) };
  const uncommitted = new Map<string, LineCursor>();
  const lines = new LineHeads((head) => {
    const cursor = cursorOf(head);
    if (cursor === undefined) return;
    const partition = `${cursor.event_type} ${cursor.partition}`;
    uncommitted.set(partition, cursor);
    const offset = Number(cursor.offset.slice(-offsetDigits));
    const last = counted.get(partition);
    // A new stream repeats what the one before had not committed.
    if (last !== undefined && offset <= last) return;
    counted.set(partition, offset);
    counts.add('delivered', last === undefined ? 0 : offset - last);
    const sent = sentAt(head);
    if (sent !== undefined) counts.time('delivery', performance.now() - sent);
  });
  response.on('data', (bytes: Buffer) => lines.feed(bytes));
  const endsAt = performance.now() + lifeMilliseconds;
  try {
    while (performance.now() < endsAt && !response.closed) {
      await sleep(commitPauseMilliseconds);
      const items = [...uncommitted.values()];
      uncommitted.clear();
      if (items.length > 0) await post(`${url}/subscriptions/${subscription}/cursors`, { items }, headers);
    }
    if (response.closed) throw new Error('A stream ended by itself');
  } finally {
    response.destroy();
  }
}

/** Opens a stream. @throws Error when it is refused */
function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent: false }, (response) => {
      // A connection that breaks later is noticed by the end of the response.
      response.on('error', () => undefined);
      if (response.statusCode === 200) return resolve(response);
      sent.destroy();
      reject(new Error(`A stream was answered ${response.statusCode}`));
    });
    sent.on('error', reject);
  });
}

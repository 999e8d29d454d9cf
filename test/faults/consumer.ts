import { request, type IncomingMessage } from 'node:http';
import { describeError } from '../../src/errors.ts';
import { machineTime, silence, silenceMillisecondsMaximum, type EventPosition } from './history.ts';
import {
  detailOf,
  jsonOf,
  runLoad,
  send,
  type LoadProcess,
  type LoadSettings,
  type ServiceNode,
} from './load-process.ts';
import { randomNumbers } from '../support/random-numbers.ts';

/** Streams subscriptions as a client has to: commits what it received, and opens a new stream whenever one ends. */
export interface ConsumerSettings extends LoadSettings {
  readonly subscriptions: readonly ConsumedSubscription[];
}

export interface ConsumedSubscription {
  readonly id: string;
  /** Concurrent streams. */
  readonly streams: number;
  readonly batchLimit: number;
  readonly uncommittedEventsMaximum: number;
  /** A stream ends after this time with uncommitted events. Seconds. */
  readonly commitTimeoutSeconds: number;
  /** How long the processing of each batch takes, until the load is drained. Milliseconds. */
  readonly workMilliseconds: number;
  /** The lifetime of a stream, from this up to twice this. Seconds. */
  readonly streamSecondsLeast: number;
  /** Whether it bypasses the proxies, so that the service itself is affected when nothing is read. */
  readonly isDirect: boolean;
}

interface Batch {
  readonly cursor: { readonly event_type: string; readonly partition: string; readonly offset: string };
  readonly events?: readonly { readonly metadata: { readonly eid: string } }[];
  readonly info?: { readonly debug?: string; readonly code?: string };
}

/** A stream is requested to send something at least this often. Seconds. */
const keepAliveSeconds = 1;
/** How often a stream without events checks whether it has to end. Milliseconds. */
const stopCheckMilliseconds = 250;
/** How long after the end of a stream its last cursors are committed again. Milliseconds. */
const lateCommitMilliseconds = 1_500;
/** Before a stream is opened again. Milliseconds. */
const reopenMilliseconds = 300;
const openMillisecondsMaximum = 10_000;
const commitAttemptsMaximum = 4;
/** How often the committed cursors are read. Milliseconds. */
const watchMilliseconds = 1_000;

type Load = LoadProcess<ConsumerSettings>;

/** The offset in the API's form: version, time line, number. */
function offsetOf(text: string): number {
  return Number(text.slice(text.lastIndexOf('-') + 1)) * (text.includes('--') ? -1 : 1);
}

function positionOf({ event_type: eventType, partition, offset }: Batch['cursor']): EventPosition {
  return { eventType, partition: Number(partition), offset: offsetOf(offset) };
}

async function consume(load: Load, subscription: ConsumedSubscription, index: number): Promise<void> {
  const random = randomNumbers(load.settings.seed + index);
  for (let turn = index; !load.isStopping(); turn += 1) {
    const node = nodeAt(load, turn);
    const seconds = Math.round(subscription.streamSecondsLeast * (1 + random()));
    const query = new URLSearchParams({
      batch_limit: String(subscription.batchLimit),
      max_uncommitted_events: String(subscription.uncommittedEventsMaximum),
      batch_flush_timeout: String(keepAliveSeconds),
      commit_timeout: String(subscription.commitTimeoutSeconds),
      stream_timeout: String(seconds),
    });
    const url = subscription.isDirect ? node.directUrl : node.url;
    const response = await open(`${url}/subscriptions/${subscription.id}/events?${query.toString()}`);
    if ('refused' in response) {
      const detail = response.refused;
      load.history.record({ kind: 'stream refused', subscription: subscription.id, node: node.name, detail });
    } else {
      await readStream(load, subscription, node, turn, response);
    }
    await load.pause(reopenMilliseconds * (1 + random()));
  }
}

function nodeAt({ settings: { nodes } }: Load, turn: number): ServiceNode {
  const node = nodes[turn % nodes.length];
  if (node === undefined) throw new Error('A consumer needs nodes');
  return node;
}

function open(url: string): Promise<IncomingMessage | { readonly refused: string }> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => sent.destroy(new Error('no answer in time')), openMillisecondsMaximum);
    const sent = request(url, { agent: false }, (response) => {
      clearTimeout(timer);
      if (response.statusCode === 200) {
        resolve(response);
        return;
      }
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('close', () => resolve({ refused: `${response.statusCode} ${text.slice(0, 200)}` }));
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      resolve({ refused: describeError(error) });
    });
    sent.end();
  });
}

interface StreamNames {
  readonly subscription: string;
  readonly stream: string;
}

/** Reads a stream to its end. Lines are recorded as they arrive; meanwhile earlier ones are committed. */
async function readStream(
  load: Load,
  subscription: ConsumedSubscription,
  node: ServiceNode,
  turn: number,
  response: IncomingMessage,
): Promise<void> {
  const { history } = load;
  const names = { subscription: subscription.id, stream: String(response.headers['x-nakadi-streamid']) };
  const { batchLimit, uncommittedEventsMaximum } = subscription;
  history.record({ kind: 'stream opened', ...names, node: node.name, batchLimit, uncommittedEventsMaximum });
  let reason = 'the connection was closed without a last line';
  /** The last cursor of each partition that is not committed yet. */
  let owed = new Map<string, Batch['cursor']>();
  let latest: readonly Batch['cursor'][] = [];
  let wake = (): void => {};

  const handleLine = (line: string): void => {
    const batch = JSON.parse(line) as Batch;
    if (batch.info?.code !== undefined) reason = batch.info.code;
    if (batch.events === undefined || batch.events.length === 0) return;
    const eids = batch.events.map(({ metadata }) => metadata.eid);
    history.record({ kind: 'delivered', ...names, position: positionOf(batch.cursor), eids });
    owed.set(`${batch.cursor.event_type} ${batch.cursor.partition}`, batch.cursor);
  };
  const silenceTimer = setTimeout(() => {
    if (load.isStalled()) silenceTimer.refresh();
    else response.destroy(new Error(silence));
  }, silenceMillisecondsMaximum);
  const decoder = new TextDecoder();
  let rest = '';
  response.on('data', (chunk: Buffer) => {
    silenceTimer.refresh();
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(handleLine);
    wake();
  });
  response.on('error', (error) => (reason = describeError(error)));
  response.on('close', () => wake());
  const stall = (): void => {
    silenceTimer.refresh();
    if (load.isStalled()) response.pause();
    else response.resume();
  };
  const forgetStalls = load.onStall(stall);
  stall();

  while (!response.destroyed && !load.isStopping()) {
    if (owed.size === 0) {
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), load.pause(stopCheckMilliseconds)]);
      continue;
    }
    if (subscription.workMilliseconds > 0 && !load.isDraining()) await load.pause(subscription.workMilliseconds);
    latest = [...owed.values()];
    owed = new Map();
    if (await commit(load, names, latest, turn)) continue;
    reason = 'a commit was not accepted';
    break;
  }
  clearTimeout(silenceTimer);
  forgetStalls();
  response.destroy();
  if (load.isStopping()) reason = 'the run is over';
  history.record({ kind: 'stream closed', ...names, reason });
  const forgotten = owed.size > 0 ? [...owed.values()] : latest;
  if (forgotten.length === 0) return;
  await load.pause(lateCommitMilliseconds);
  // A client that does not know yet: once others continue with its partitions, its commit must be refused.
  await commit(load, names, forgotten, turn);
}

/** Commits at one node or another, repeatedly when there is no response. Returns whether the stream may continue. */
async function commit(
  load: Load,
  names: StreamNames,
  cursors: readonly Batch['cursor'][],
  turn: number,
): Promise<boolean> {
  const { history } = load;
  const positions = cursors.map(positionOf);
  // Mostly at the node that streams, now and then at another.
  const first = turn + (positions.some(({ offset }) => offset % 7 === 0) ? 1 : 0);
  for (let attempt = 0; attempt < commitAttemptsMaximum && !load.isStopping(); attempt += 1) {
    const attemptedAt = machineTime();
    history.record({ kind: 'commit attempted', ...names, cursors: positions });
    const response = await send(
      nodeAt(load, first + attempt),
      'POST',
      `/subscriptions/${names.subscription}/cursors`,
      { items: cursors },
      { 'X-Nakadi-StreamId': names.stream },
    );
    const isKnown = 'status' in response && response.status < 500;
    const isCommitted = 'status' in response && (response.status === 204 || response.status === 200);
    history.record({
      kind: 'commit answered',
      ...names,
      outcome: isCommitted ? 'committed' : isKnown ? 'refused' : 'unknown',
      attemptedAt,
      cursors: positions,
      advanced: isCommitted ? advancedOf(response, positions.length) : positions.map(() => false),
      ...(isCommitted ? {} : { detail: detailOf(response) }),
    });
    if (isKnown) return isCommitted;
    await load.pause(reopenMilliseconds);
  }
  return false;
}

/** Which of the cursors moved their partitions forward: all of them, or as the response says. */
function advancedOf({ status, text }: { readonly status: number; readonly text: string }, count: number): boolean[] {
  if (status === 204) return Array.from({ length: count }, () => true);
  const { items } = jsonOf(text) as { readonly items: readonly { readonly result: string }[] };
  return items.map(({ result }) => result === 'committed');
}

/** Reads the committed cursors from one node after another. */
async function watchCursors(load: Load): Promise<void> {
  for (let turn = 0; !load.isStopping(); turn += 1) {
    for (const { id } of load.settings.subscriptions) {
      const node = nodeAt(load, turn);
      const askedAt = machineTime();
      const response = await send(node, 'GET', `/subscriptions/${id}/cursors`);
      if (!('status' in response) || response.status !== 200) continue;
      const { items } = jsonOf(response.text) as { items: Batch['cursor'][] };
      load.history.record({
        kind: 'cursors seen',
        subscription: id,
        node: node.name,
        askedAt,
        cursors: items.map(positionOf),
      });
    }
    await load.pause(watchMilliseconds);
  }
}

await runLoad<ConsumerSettings>(async (load) => {
  const streams = load.settings.subscriptions.flatMap((subscription) =>
    Array.from({ length: subscription.streams }, () => subscription),
  );
  await Promise.all([watchCursors(load), ...streams.map((subscription, index) => consume(load, subscription, index))]);
});

import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../baselines/bare-http.ts';
import { cursorOf, openStream, type LineCursor } from './open-stream.ts';

/**
 * The consumers of many subscriptions, each with one stream of a process of the service. Lines on standard input say
 * what they do; each gets a line in response:
 *
 * - The settings: opens all streams. The response is that they are open.
 * - `expect`: waits for the next event of every stream and commits it. The responses are `expecting`, and that every
 *   commit was accepted.
 *
 * A stream that ends is opened again, and a commit that is refused is sent again, as every consumer would do.
 */
interface Settings {
  readonly url: string;
  readonly subscriptions: readonly string[];
}

interface Consumer {
  readonly subscription: string;
  streamId: string;
  /** Called with the cursor of the next line that has events. */
  onEvents: ((cursor: LineCursor) => void) | undefined;
}

const opensAtOnce = 16;
const commitsAtOnce = 16;
const retryMilliseconds = 50;

const consumers: Consumer[] = [];
let reopened = 0;
let refusedCommits = 0;

async function open(url: string, consumer: Consumer): Promise<void> {
  const stream = await openStream(
    url,
    consumer.subscription,
    '',
    (line) => {
      const cursor = cursorOf(line);
      if (cursor !== undefined) consumer.onEvents?.(cursor);
    },
    () => void reopen(url, consumer),
  );
  consumer.streamId = stream.streamId;
}

function reopen(url: string, consumer: Consumer): Promise<void> {
  reopened += 1;
  return openUntilAccepted(url, consumer);
}

/** On a busy machine an overloaded process refuses new streams for a moment. */
async function openUntilAccepted(url: string, consumer: Consumer): Promise<void> {
  for (;;) {
    try {
      await open(url, consumer);
      return;
    } catch {
      await sleep(retryMilliseconds);
    }
  }
}

async function openAll({ url, subscriptions }: Settings): Promise<void> {
  const next = subscriptions.values();
  await Promise.all(
    Array.from({ length: opensAtOnce }, async () => {
      for (const subscription of next) {
        const consumer: Consumer = { subscription, streamId: '', onEvents: undefined };
        consumers.push(consumer);
        await openUntilAccepted(url, consumer);
      }
    }),
  );
}

/** Resolves when every stream has been sent an event from now on, and the commit of it was accepted. */
async function expectEvents(url: string): Promise<void> {
  const arrived = consumers.map((consumer) => new Promise<LineCursor>((resolve) => (consumer.onEvents = resolve)));
  console.log('expecting');
  const next = consumers.entries();
  await Promise.all(
    Array.from({ length: commitsAtOnce }, async () => {
      const connection = await openConnection(url);
      for (const [index, consumer] of next) {
        await commit(connection, consumer, (await arrived[index]) as LineCursor);
      }
      connection.close();
    }),
  );
}

async function commit(
  connection: Awaited<ReturnType<typeof openConnection>>,
  consumer: Consumer,
  cursor: LineCursor,
): Promise<void> {
  const path = `/subscriptions/${consumer.subscription}/cursors`;
  for (;;) {
    try {
      const headers = `X-Nakadi-StreamId: ${consumer.streamId}\r\n`;
      await connection.post(path, JSON.stringify({ items: [cursor] }), headers);
      return;
    } catch {
      refusedCommits += 1;
      await sleep(retryMilliseconds);
    }
  }
}

let settings: Settings | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  if (settings === undefined) {
    settings = JSON.parse(line) as Settings;
    await openAll(settings);
  } else {
    await expectEvents(settings.url);
  }
  console.log(JSON.stringify({ reopened, refusedCommits }));
}
process.exit(0);

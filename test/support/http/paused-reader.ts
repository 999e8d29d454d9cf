import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { StreamClient, StreamServer } from './stream-server.ts';

/** Events of one batch, which the stream sends in one write: about 14 KB, less than any high-water mark. */
export const pausedBatchEvents = 60;

/** About 70 MB. Something else is wrong when these do not fill a connection. */
const publishedEventsMaximum = 300_000;

/** Text that does not compress well. */
const textBytes = 150;

/**
 * Publishes to partition 0 until the connection of a client that does not read is full, and a little more. Then the
 * client reads again. It must receive every event, and keep-alives after them.
 * @param client opened paused on a stream with {@link pausedBatchEvents} as its `batch_limit` and the shortest
 * `batch_flush_timeout`
 */
export async function expectAllAfterPause(server: StreamServer, client: StreamClient, type: string): Promise<void> {
  let published = 0;
  const publish = async (): Promise<void> => {
    const records = Array.from({ length: pausedBatchEvents }, (_, index) => {
      const event = { number: published + index, text: randomBytes(textBytes).toString('base64') };
      return { key: null, value: Buffer.from(JSON.stringify(event)) };
    });
    await server.append(type, 0, records);
    published += pausedBatchEvents;
  };
  while (server.unsentBytes() === 0) {
    expect(published, 'more than any connection holds').to.be.lessThan(publishedEventsMaximum);
    await publish();
    // The stream reads and sends meanwhile, so that little more is published than the connection holds.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await publish();
  const hasLast = (): boolean =>
    client.batches.findLast(({ events }) => events !== undefined)?.events?.at(-1)?.['number'] === published - 1;
  client.read();
  await client.until(hasLast);
  expect(client.numbers).to.deep.equal(Array.from({ length: published }, (_, number) => number));
  const received = client.batches.length;
  await client.until(() => client.batches.slice(received).filter(({ events }) => events === undefined).length >= 2);
  await publish();
  await client.until(hasLast);
}

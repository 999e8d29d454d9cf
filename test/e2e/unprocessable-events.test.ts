import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyAnnotation, sendCountAnnotation } from '../../src/broker/definitions/unprocessable-events.ts';
import { clusterUnderTest, isClusterUnderTest } from '../support/backend-under-test.ts';
import { call, openStream, type OpenStream } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';
import { killWhilePassingOver } from '../support/processes/service-program.ts';
import { eventOf, eventTypeOf, newName, offset } from '../acceptance/streaming/streaming-api.ts';

const preloaded = `${process.env['NODE_OPTIONS'] ?? ''} ${killWhilePassingOver}`;

/** The steps at which a process ends, see kill-while-passing-over-preload.ts, and how many letters there are then. */
const steps: readonly (readonly [step: string, letters: readonly number[]])[] = [
  ['decided', [1]],
  ['letter sent', [1, 2]],
  ['letter written', [2]],
  ['commit sent', [1, 2]],
  ['committed', [1]],
];

/** As often as a batch, and then an event alone, is sent. */
const sends = 2;

/** The event that the consumer fails with, of those that are published. */
const poison = 1;
const published = [0, 1, 2, 3, 4];

interface Letter {
  readonly metadata: { readonly eid: string };
  readonly subscription_id: string;
  readonly offset: string;
  readonly event: { readonly number: number };
}

/** One subscription whose consumer closes its stream when it gets the poison event, and commits everything else. */
class Consumer {
  readonly id: string;
  /** How often it got the poison event. */
  failures = 0;
  readonly handled = new Set<number>();

  private constructor(id: string) {
    this.id = id;
  }

  static async create(url: string, partitionCount = 1): Promise<Consumer> {
    const type = newName('fragile');
    await expectStatus(201, call(`${url}/event-types`, 'POST', eventTypeOf(type, partitionCount)));
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const events = published.map((number) => eventOf(number + partition * 100, partition));
      await expectStatus(200, call(`${url}/event-types/${type}/events`, 'POST', events));
    }
    const subscription = {
      owning_application: newName('app'),
      event_types: [type],
      read_from: 'begin',
      annotations: { [sendCountAnnotation]: String(sends), [policyAnnotation]: 'DEAD_LETTER_QUEUE' },
    };
    const { body } = await expectStatus(201, call(`${url}/subscriptions`, 'POST', subscription));
    return new Consumer(String(body['id']));
  }

  /** Reads one stream until the consumer fails, the process dies, or everything is handled. */
  async readStream(url: string, isDone: () => boolean): Promise<void> {
    let stream: OpenStream;
    try {
      const query = '?batch_limit=3&max_uncommitted_events=3&batch_flush_timeout=1&commit_timeout=10&wait_for_slot=5';
      stream = await openStream(url, this.id, query);
    } catch {
      return;
    }
    let seen = 0;
    const hasEnded = stream.ended.then(
      () => true,
      () => true,
    );
    while (!isDone()) {
      const isOver = await Promise.race([
        hasEnded,
        stream
          .until(({ length }) => length > seen, 500)
          .then(
            () => false,
            () => false,
          ),
      ]);
      if (isOver) return;
      for (const { cursor, events = [] } of stream.batches.slice(seen)) {
        seen += 1;
        const numbers = events.map(({ number }) => Number(number));
        if (numbers.includes(poison)) {
          this.failures += 1;
          stream.close();
          await hasEnded;
          return;
        }
        if (numbers.length === 0) continue;
        await stream.commit([cursor]).catch(() => {});
        for (const number of numbers) this.handled.add(number);
      }
    }
    stream.close();
    await hasEnded;
  }

  /** The letters of the subscription. */
  async letters(url: string): Promise<Letter[]> {
    const cursors = [0, 1, 2, 3].map((partition) => ({ partition: String(partition), offset: 'BEGIN' }));
    const response = await fetch(
      `${url}/event-types/nakadi.dead.letter.queue/events?stream_timeout=1&batch_flush_timeout=1&batch_limit=1000`,
      { headers: { 'X-Nakadi-Cursors': JSON.stringify(cursors) } },
    );
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    const all = lines.flatMap((line) => (JSON.parse(line) as { events?: Letter[] }).events ?? []);
    return all.filter(({ subscription_id }) => subscription_id === this.id);
  }
}

async function expectStatus(status: number, responding: ReturnType<typeof call>): ReturnType<typeof call> {
  const response = await responding;
  expect(response.status, response.text).to.equal(status);
  return response;
}

/** How many events of a subscription a process has passed over. */
async function skippedBy({ url }: Service, id: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { Accept: 'text/plain' } })).text();
  const line = text.split('\n').find((each) => each.startsWith('lendstream_skipped_events_total') && each.includes(id));
  return Number(line?.split(' ').at(-1) ?? 0);
}

describe('an event that a consumer cannot process', function () {
  this.timeout(180_000);
  let folders: string[];
  /** On a cluster, another process that goes on. */
  let other: Service | undefined;
  /** On the embedded store, the process that went on when another one had died, and dies next. */
  let successor: Service | undefined;
  const environment = { ROLES: 'serve', LOG_LEVEL: 'error', ...clusterUnderTest() };

  before(async () => {
    folders = [await temporaryFolder(), await temporaryFolder()];
    if (isClusterUnderTest()) other = await startService(folders[1] ?? '', environment);
  });

  after(async () => {
    await other?.stop();
    await successor?.stop();
    for (const folder of folders) await removeFolder(folder);
  });

  /** Sets the step at which the processes of {@link startMortal} die; without one they go on. */
  const dieAt = (step: string): void => writeFileSync(join(folders[0] ?? '', 'step'), step);

  const startMortal = (): Promise<Service> => {
    const folder = folders[0] ?? '';
    const file = join(folder, 'step');
    return startService(join(folder, 'data'), { ...environment, NODE_OPTIONS: preloaded, KILL_STEP_FILE: file });
  };

  for (const [step, expectedLetters] of steps) {
    it(`is in the queue, and its stream goes on, when the process dies at the step: ${step}`, async () => {
      dieAt(step);
      const dying = successor ?? (await startMortal());
      successor = undefined;
      const isDead = (): boolean => dying.child.exitCode !== null || dying.child.signalCode !== null;
      const consumer = await Consumer.create(dying.url);
      while (!isDead()) await consumer.readStream(dying.url, isDead);
      expect(dying.child.signalCode).to.equal('SIGKILL');
      expect(consumer.failures).to.equal(2 * sends);

      dieAt('');
      const next = other ?? (await startMortal());
      if (next !== other) successor = next;
      const isDone = (): boolean => consumer.handled.has(4);
      while (!isDone()) await consumer.readStream(next.url, isDone);
      // What is on its way when the process dies may arrive, and a quick disk gets as far as the commit.
      const mayBeCommitted = step === 'letter sent' || step === 'commit sent';
      const isCommitted = step === 'committed' || (mayBeCommitted && consumer.failures === 2 * sends);
      // Only Redis keeps the count when a process dies.
      expect(consumer.failures).to.equal(isClusterUnderTest() || isCommitted ? 2 * sends : 4 * sends);
      expect([...consumer.handled]).to.have.members([0, 2, 3, 4]);
      const letters = await consumer.letters(next.url);
      expect(letters.length, 'letters').to.be.oneOf(expectedLetters);
      expect(new Set(letters.map(({ metadata }) => metadata.eid)).size).to.equal(1);
      expect(letters[0]).to.deep.include({ offset: offset(poison) });
      expect(letters[0]?.event.number).to.equal(poison);
    });
  }

  describe('on two processes of a cluster', () => {
    const services: Service[] = [];

    before(async function () {
      if (other === undefined) {
        process.stdout.write('      skipped: only a cluster has two processes\n');
        this.skip();
      }
      services.push(other, await startService(join(folders[0] ?? '', 'data'), environment));
    });

    after(() => services[1]?.stop());

    const skippedByEach = (id: string): Promise<number[]> =>
      Promise.all(services.map((service) => skippedBy(service, id)));

    it('is taken out once while their streams pass its partition to each other', async () => {
      const url = services[0]?.url ?? '';
      const consumer = await Consumer.create(url, 2);
      const isDone = (): boolean => [4, 104].every((number) => consumer.handled.has(number));
      await Promise.all(
        services.map(async (service) => {
          while (!isDone()) await consumer.readStream(service.url, isDone);
        }),
      );
      expect(consumer.failures, 'each failure counts, on whichever process').to.equal(2 * sends);
      expect([...consumer.handled]).to.have.members([
        ...published.filter((number) => number !== poison),
        ...published.map((number) => number + 100),
      ]);
      expect((await consumer.letters(url)).map(({ event }) => event.number)).to.deep.equal([poison]);
      const skipped = await skippedByEach(consumer.id);
      expect(skipped.reduce((sum, each) => sum + each)).to.equal(1);
    });

    it('stays counted while its streams move from one to the other', async () => {
      const [first, second] = services.map((service) => service.url) as [string, string];
      const consumer = await Consumer.create(first);
      for (let failures = 1; failures <= 2 * sends; failures += 1) {
        const url = failures % 2 === 0 ? first : second;
        while (consumer.failures < failures) await consumer.readStream(url, () => false);
      }
      const isDone = (): boolean => consumer.handled.has(4);
      while (!isDone()) await consumer.readStream(second, isDone);
      expect(consumer.failures).to.equal(2 * sends);
      expect((await consumer.letters(second)).map(({ event }) => event.number)).to.deep.equal([poison]);
      expect(await skippedByEach(consumer.id)).to.deep.equal([0, 1]);
    });
  });
});

import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { systemRandom } from '../../src/clock.ts';
import { claimMilliseconds } from '../../src/ports/published-ids.ts';
import { clusterUnderTest, isClusterUnderTest } from '../support/backend-under-test.ts';
import { eventTypeBody } from '../support/broker-on-embedded-log.ts';
import { call, type Batch } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

/** Processes of the service: on a cluster several at a time, on the embedded store one after another. */
describe('repeated events, through processes that are killed', function () {
  this.timeout(150_000);
  const folders: string[] = [];
  const running = new Set<Service>();
  let shared = '';

  before(async () => {
    shared = await newFolder();
  });

  after(async () => {
    await killAll();
    await Promise.all(folders.map((folder) => removeFolder(folder)));
  });

  async function newFolder(): Promise<string> {
    const folder = await temporaryFolder();
    folders.push(folder);
    return folder;
  }

  /** A process with the data of all others. */
  async function start(environment: Record<string, string> = {}): Promise<Service> {
    const folder = isClusterUnderTest() ? await newFolder() : shared;
    const service = await startService(folder, { ROLES: 'serve', ...clusterUnderTest(), ...environment });
    running.add(service);
    return service;
  }

  async function kill(service: Service): Promise<void> {
    running.delete(service);
    await service.kill();
  }

  async function killAll(): Promise<void> {
    await Promise.all([...running].map((service) => kill(service)));
  }

  async function define(service: Service): Promise<string> {
    const name = `orders-${randomUUID()}`;
    const body = eventTypeBody(name, {
      annotations: { 'lendstream/deduplication-window-seconds': '600' },
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 3, write_parallelism: 3 },
    });
    expect((await call(`${service.url}/event-types`, 'POST', body)).status).to.equal(201);
    return name;
  }

  function newBatch(count = 5): unknown[] {
    return Array.from({ length: count }, () => ({
      metadata: { eid: randomUUID(), occurred_at: '2026-03-15T23:47:15Z' },
      order: 'o',
    }));
  }

  /** The status of a publish request; 0 when there was no answer. */
  async function publish(service: Service, name: string, batch: readonly unknown[]): Promise<number> {
    const response = await call(`${service.url}/event-types/${name}/events`, 'POST', batch).catch(() => undefined);
    return response?.status ?? 0;
  }

  /** The ids of all events that are stored, in the order of the partitions. */
  async function storedEids(service: Service, name: string): Promise<string[]> {
    const begin = [0, 1, 2].map((partition) => ({ partition: String(partition), offset: 'BEGIN' }));
    const headers = { 'X-Nakadi-Cursors': JSON.stringify(begin) };
    const query = 'batch_limit=1000&batch_flush_timeout=1&stream_timeout=2';
    const response = await fetch(`${service.url}/event-types/${name}/events?${query}`, { headers });
    const text = await response.text();
    const batches = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Batch]));
    return batches.flatMap(({ events = [] }) => events.map(({ metadata }) => (metadata as { eid: string }).eid));
  }

  function eidsOf(batches: readonly unknown[][]): string[] {
    return batches.flat().map((event) => (event as { metadata: { eid: string } }).metadata.eid);
  }

  it('are stored once when a process is killed at any moment and the producer repeats what had no answer', async () => {
    let service = await start();
    const name = await define(service);
    const batches: unknown[][] = [];
    const unanswered: unknown[][] = [];
    // A round may have to wait for the claims of the process that was killed.
    const rounds = isClusterUnderTest() ? 2 : 4;
    for (let round = 0; round < rounds; round += 1) {
      // The type is known, and nothing has to be read before the first of them is stored.
      expect(await publish(service, name, newBatch(1).slice(0, 0))).to.equal(200);
      const sent = Array.from({ length: 40 }, () => newBatch());
      batches.push(...sent);
      const publishing = sent.map(async (batch, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 2));
        if ((await publish(service, name, batch)) !== 200) unanswered.push(batch);
      });
      await new Promise((resolve) => setTimeout(resolve, 10 + systemRandom() * 70));
      await kill(service);
      await Promise.all(publishing);
      service = await start();
      // On a cluster, a claim of a process that died before its append holds up all that repeat it.
      const repeated = await Promise.all(unanswered.splice(0).map((batch) => publish(service, name, batch)));
      expect(repeated.every((status) => status === 200)).to.equal(true);
      // Of those that were answered, some producers do not know it.
      await Promise.all(sent.slice(0, 10).map((batch) => publish(service, name, batch)));
    }
    expect((await storedEids(service, name)).sort()).to.deep.equal(eidsOf(batches).sort());
  });

  it('are stored once when several processes get them at the same time, in any order', async () => {
    // The process that the test before has left.
    const [first = await start()] = running;
    const services = isClusterUnderTest() ? [first, await start()] : [first];
    const name = await define(first);
    const batches = Array.from({ length: 30 }, () => newBatch());
    const mixed = batches.map((batch, index) => [...(batches[index + 1] ?? []), ...batch].toReversed());
    const statuses = await Promise.all(
      [...batches, ...mixed, ...batches].flatMap((batch) => services.map((service) => publish(service, name, batch))),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect((await storedEids(first, name)).sort()).to.deep.equal(eidsOf(batches).sort());
  });

  it('are known after a restart, and after the last one of the limit comes 503', async () => {
    await killAll();
    const limited = { DEDUPLICATED_IDS_MAXIMUM: '10' };
    const before = await start(limited);
    const name = await define(before);
    const [one, two] = [newBatch(), newBatch()];
    expect([await publish(before, name, one), await publish(before, name, two)]).to.deep.equal([200, 200]);
    await kill(before);
    const service = await start(limited);
    const url = `${service.url}/event-types/${name}/events`;
    const refusal = await call(url, 'POST', newBatch(1));
    expect([refusal.status, refusal.headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect(refusal.body['detail']).to.contain('more than 10 ids in its deduplication window. Nothing was stored.');
    expect(await publish(service, name, [...two, ...one])).to.equal(200);
    expect((await storedEids(service, name)).sort()).to.deep.equal(eidsOf([one, two]).sort());
  });

  it('have a test that waits for claims long enough', () => {
    expect(4 * claimMilliseconds).to.be.lessThan(150_000);
  });
});

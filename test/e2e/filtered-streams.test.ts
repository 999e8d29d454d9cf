import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { clusterUnderTest, isClusterUnderTest } from '../support/backend-under-test.ts';
import { call, openStream } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';
import { eventOf, eventTypeOf, newName } from '../acceptance/streaming/streaming-api.ts';

const partitionCount = 2;
const eventsPerPartition = 120;

/** Of every partition, these are wanted: some stand alone, and many others lie between some. */
const isWanted = (number: number): boolean => number % 7 === 0 && (number < 30 || number > 90);
const numbers = Array.from({ length: eventsPerPartition }, (_, number) => number);
const wantedOfAll = numbers.filter(isWanted).length * partitionCount;

/** After how many batches, with events or without, the process is killed. */
const batchesBeforeKill = [1, 4];

/** Reads and commits a filtered stream batch by batch, until so many are read or nothing is left. */
async function consume(url: string, id: string, batchesMaximum: number, delivered: string[]): Promise<void> {
  const filter = encodeURIComponent('/kind=wanted');
  const query = `?filter=${filter}&batch_limit=3&max_uncommitted_events=3&batch_flush_timeout=1&wait_for_slot=20`;
  const stream = await openStream(url, id, query);
  const ended = stream.ended.catch(() => {});
  for (let seen = 0; seen < batchesMaximum; seen += 1) {
    await stream.until(({ length }) => length > seen, 20_000);
    const { cursor, events = [] } = stream.batches[seen] ?? {};
    for (const { kind, place } of events) {
      expect(kind, 'what the filter leaves out').to.equal('wanted');
      delivered.push(String(place));
    }
    if (cursor !== undefined) expect((await stream.commit([cursor])).status).to.be.oneOf([200, 204]);
    if (await isDrained(url, id)) break;
  }
  stream.close();
  await ended;
}

/** Whether every event, wanted or not, is behind the committed cursors. */
async function isDrained(url: string, id: string): Promise<boolean> {
  const { body } = await call(`${url}/subscriptions/${id}/stats`, 'GET');
  const items = body['items'] as { readonly partitions: readonly { readonly unconsumed_events?: number }[] }[];
  return items.every(({ partitions }) => partitions.every(({ unconsumed_events }) => unconsumed_events === 0));
}

describe('a stream with a filter', function () {
  this.timeout(180_000);
  let folder: string;
  let otherFolder: string;
  /** On a cluster, the process that reads on. */
  let other: Service | undefined;
  const environment = { ROLES: 'serve', LOG_LEVEL: 'error', ...clusterUnderTest() };

  before(async () => {
    [folder, otherFolder] = [await temporaryFolder(), await temporaryFolder()];
    if (isClusterUnderTest()) other = await startService(otherFolder, environment);
  });

  after(async () => {
    await other?.stop();
    await removeFolder(folder);
    await removeFolder(otherFolder);
  });

  it('delivers every wanted event and no other, and gets behind the last one, although its process is killed', async () => {
    let service = await startService(folder, environment);
    const type = newName('filtered');
    const { status } = await call(`${service.url}/event-types`, 'POST', eventTypeOf(type, partitionCount));
    expect(status).to.equal(201);
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const events = numbers.map((number) => {
        const place = `${partition}/${number}`;
        return { ...eventOf(number, partition), place, kind: isWanted(number) ? 'wanted' : 'other' };
      });
      expect((await call(`${service.url}/event-types/${type}/events`, 'POST', events)).status).to.equal(200);
    }
    const subscription = { owning_application: newName('app'), event_types: [type], read_from: 'begin' };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const id = String(body['id']);

    const delivered: string[] = [];
    for (const batches of batchesBeforeKill) {
      await consume(service.url, id, batches, delivered);
      await service.kill();
      service = await startService(folder, environment);
    }
    const { url } = other ?? service;
    while (!(await isDrained(url, id))) await consume(url, id, 20, delivered);
    await service.stop();

    expect(new Set(delivered).size).to.equal(wantedOfAll);
    // At most the uncommitted events of each killed stream come again.
    expect(delivered.length).to.be.at.most(wantedOfAll + batchesBeforeKill.length * 3);
  });
});

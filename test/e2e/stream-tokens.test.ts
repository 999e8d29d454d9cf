import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { streamTokenMilliseconds } from '../../src/http/access/stream-tokens.ts';
import { clusterUnderTest, isClusterUnderTest } from '../support/backend-under-test.ts';
import { call } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

const [firstKey, secondKey] = ['first-key-of-this-test', 'second-key-of-this-test'];
const eventType = 'nakadi.dead.letter.queue';

const clockAhead = new URL('../support/processes/clock-ahead-preload.js', import.meta.url).href;

/** Of a process whose clock is ahead. Milliseconds. */
const ahead = (milliseconds: number): Record<string, string> => ({
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${clockAhead}`,
  CLOCK_AHEAD: String(milliseconds),
});

describe('stream tokens of one process', function () {
  this.timeout(180_000);
  let folder: string;
  const services: Service[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop();
    await removeFolder(folder);
  });

  async function start(apiKeys: readonly string[], environment: Record<string, string> = {}): Promise<Service> {
    const shared = { ROLES: 'serve', API_KEYS: apiKeys.join(','), ...clusterUnderTest() };
    const service = await startService(folder, { ...shared, ...environment });
    services.push(service);
    return service;
  }

  async function kill(service: Service): Promise<void> {
    services.splice(services.indexOf(service), 1);
    await service.kill();
  }

  async function issue({ url }: Service, key = firstKey): Promise<string> {
    const { body } = await call(`${url}/stream-tokens`, 'POST', { event_type: eventType }, { apikey: key });
    return String(body['token']);
  }

  async function statusOf({ url }: Service, token: string): Promise<number> {
    const query = `?stream_timeout=1&batch_flush_timeout=1&stream_token=${token}`;
    const response = await fetch(`${url}/event-types/${eventType}/events${query}`);
    await response.text();
    return response.status;
  }

  it('open one stream at another, whatever the order of its keys is', async function () {
    if (!isClusterUnderTest()) {
      process.stdout.write('      skipped: only a cluster has two processes\n');
      this.skip();
    }
    const first = await start([firstKey, secondKey]);
    const otherFolder = folder;
    folder = await temporaryFolder();
    try {
      const second = await start([secondKey, firstKey]);
      for (const key of [firstKey, secondKey]) {
        const tokens = [await issue(first, key), await issue(second, key)];
        const opened = await Promise.all(
          tokens.flatMap((token) => [first, second].map((service) => statusOf(service, token))),
        );
        expect(opened, 'each token at both at once').to.have.members([200, 200, 401, 401]);
        for (const token of tokens) expect(await statusOf(first, token)).to.equal(401);
        const token = await issue(first, key);
        expect(await statusOf(second, token)).to.equal(200);
      }
    } finally {
      await removeFolder(otherFolder);
    }
  });

  it('open a stream of the process that follows it, which knows used ones on a cluster alone', async () => {
    const before = await start([firstKey, secondKey]);
    const [unused, used] = [await issue(before), await issue(before)];
    expect(await statusOf(before, used)).to.equal(200);
    await kill(before);
    const next = await start([secondKey, firstKey]);
    expect(await statusOf(next, unused)).to.equal(200);
    expect(await statusOf(next, unused)).to.equal(401);
    expect(await statusOf(next, used)).to.equal(isClusterUnderTest() ? 401 : 200);
  });

  it('open nothing when their key was taken away, or once their minute is over', async () => {
    const before = await start([firstKey, secondKey]);
    const [ofFirst, ofSecond, late] = [await issue(before), await issue(before, secondKey), await issue(before)];
    await kill(before);
    const withoutFirst = await start([secondKey]);
    expect(await statusOf(withoutFirst, ofFirst)).to.equal(401);
    expect(await statusOf(withoutFirst, ofSecond)).to.equal(200);
    await kill(withoutFirst);
    const lateProcess = await start([firstKey, secondKey], ahead(streamTokenMilliseconds));
    expect(await statusOf(lateProcess, late)).to.equal(401);
    expect(await statusOf(lateProcess, await issue(lateProcess))).to.equal(200);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Responses } from '../../../../src/contract.ts';
import { systemClock } from '../../../../src/clock.ts';
import { clusterUnderTest, isClusterUnderTest } from '../../../support/backend-under-test.ts';
import { call, openStream } from '../../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../../support/processes/service.ts';

type Node = NonNullable<Responses['getOverview']['nodes']>[number];

/** How long a process is silent before it counts as lost, and a moment more. Milliseconds. */
const lostMillisecondsMaximum = 10_000 + 10_000;

function defined(node: Node | undefined): Node {
  if (node === undefined) throw new Error('The node is not listed');
  return node;
}

describe('the nodes of an installation', function () {
  this.timeout(120_000);
  let folders: string[];
  let services: Service[];

  const start = async (settings: Record<string, string> = {}, folder?: string): Promise<Service> => {
    const own = folder ?? (await temporaryFolder());
    folders.push(own);
    const service = await startService(own, { ...clusterUnderTest(), ...settings });
    services.push(service);
    return service;
  };

  beforeEach(() => {
    folders = [];
    services = [];
  });

  afterEach(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await Promise.all(folders.map(removeFolder));
  });

  /** Of this test: other tests of a cluster have their own. */
  const nodesOf = async ({ url }: Service, addresses: readonly string[]): Promise<Node[]> => {
    const { status, text } = await call(`${url}/overview`, 'GET');
    expect(status, text).to.equal(200);
    const { nodes } = JSON.parse(text) as { nodes: Node[] };
    return nodes.filter(({ address }) => addresses.includes(address));
  };

  const until = async (
    asked: Service,
    about: Service,
    condition: (node: Node | undefined) => boolean,
    milliseconds = 30_000,
  ): Promise<Node | undefined> => {
    const deadline = systemClock.monotonic() + milliseconds;
    for (;;) {
      const [node] = await nodesOf(asked, [about.url]);
      if (condition(node)) return node;
      expect(systemClock.monotonic(), JSON.stringify(node)).to.be.lessThan(deadline);
      await systemClock.sleep(400);
    }
  };

  it('are described by themselves, with what they hold', async () => {
    const service = await start();
    const ready = defined(await until(service, service, (node) => node?.state === 'ready'));
    expect(ready).to.deep.include({ host: hostname(), roles: ['serve', 'work'], address: service.url });
    expect(Date.now() - Date.parse(ready.started_at)).to.be.within(0, 60_000);
    expect(Date.now() - Date.parse(ready.last_heard_at)).to.be.within(-1_000, 10_000);
    if (!isClusterUnderTest()) expect(ready.loan_partitions).to.be.above(0);
    const name = `tests.nodes-${randomUUID()}`;
    const schema = { type: 'json_schema', schema: '{}' };
    const body = {
      name,
      owning_application: 'tests',
      category: 'undefined',
      schema,
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 3, write_parallelism: 3 },
    };
    expect((await call(`${service.url}/event-types`, 'POST', body)).status).to.equal(201);
    const subscription = { owning_application: 'tests', event_types: [name], read_from: 'begin' };
    const created = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const stream = await openStream(service.url, String(created.body['id']));
    const watched = await fetch(`${service.url}/event-types/${name}/events`);
    // What it holds is reported from time to time, maybe between the two.
    const holding = defined(
      await until(service, service, (node) => node?.stream_partitions === 3 && node.event_type_streams === 1),
    );
    expect(holding.subscription_streams).to.equal(1);
    stream.close();
    // Used here, so that it is not collected before: its stream would be closed with it.
    await watched.body?.cancel();
    await until(service, service, (node) => node?.subscription_streams === 0 && node.event_type_streams === 0);
  });

  it('leave nothing behind when they are killed and started again', async () => {
    const service = await start({ PORT: '0' });
    await until(service, service, (node) => node?.state === 'ready');
    await service.kill();
    const port = new URL(service.url).port;
    const again = await start({ PORT: port }, service.dataFolder);
    const deadline = systemClock.monotonic() + lostMillisecondsMaximum;
    let all = await nodesOf(again, [service.url]);
    // On a cluster, the killed one is listed until its lease ends.
    while (all.length !== 1 || all[0]?.state !== 'ready') {
      expect(systemClock.monotonic(), JSON.stringify(all)).to.be.lessThan(deadline);
      await systemClock.sleep(400);
      all = await nodesOf(again, [service.url]);
    }
  });

  it('are lost within their lease when they are killed or paused, and heard again when they go on', async function () {
    if (!isClusterUnderTest()) {
      process.stderr.write('        skipped: the embedded store has one process\n');
      this.skip();
    }
    const [asked, killed, paused] = await Promise.all([start(), start({ ROLES: 'serve' }), start({ ROLES: 'serve' })]);
    const all = [asked.url, killed.url, paused.url];
    for (const service of [asked, killed, paused]) {
      await until(asked, service, (node) => node?.state === 'ready');
      await until(paused, service, (node) => node?.state === 'ready');
    }
    const stoppedAt = Date.now();
    await killed.kill();
    paused.child.kill('SIGSTOP');
    for (const service of [killed, paused]) {
      const node = defined(await until(asked, service, (found) => found?.state === 'lost', lostMillisecondsMaximum));
      expect(Date.parse(node.last_heard_at)).to.be.within(stoppedAt - 5_000, stoppedAt + 1_000);
    }
    expect(Date.now() - stoppedAt).to.be.within(5_000, lostMillisecondsMaximum + 1_000);
    expect(await nodesOf(asked, all)).to.have.length(3);
    paused.child.kill('SIGCONT');
    await until(asked, paused, (node) => node?.state === 'ready');
    // A process that stops in order is not missed.
    await paused.stop();
    await until(asked, paused, (node) => node === undefined);
    // One that is started again takes the place of the one that was killed.
    const again = await start({ PORT: new URL(killed.url).port });
    await until(asked, again, (node) => node?.state === 'ready');
    expect((await nodesOf(asked, all)).map(({ state }) => state)).to.deep.equal(['ready', 'ready']);
  });
});

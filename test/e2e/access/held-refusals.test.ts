import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { heldRefusalsMaximum, refusalsPerSecond } from '../../../src/access/limits/held-refusals.ts';
import { bodyBytesMaximum } from '../../../src/http/edge/request-body.ts';
import { createKey } from '../../support/access/created-key.ts';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';
const greedyMilliseconds = 2_500;

describe('refusals of a client that does not wait', function () {
  this.timeout(60_000);
  let folder: string;
  let service: Service;
  let names = 0;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, {
      API_KEYS: administrator,
      ROLES: 'serve',
      ADDRESS_REQUESTS_PER_SECOND: '1',
      ...clusterUnderTest(),
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  async function keyWith(limits: object): Promise<string> {
    names += 1;
    const name = `held-${process.pid}-${names}`;
    const wanted = { name, owning_application: name, scopes: ['consumer', 'producer'], limits };
    return (await createKey(service.url, administrator, wanted)).key;
  }

  /** The status of a request on a connection of an agent. */
  function statusOf(
    agent: Agent,
    headers: Record<string, string>,
    body = '',
    path = '/subscriptions',
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      const method = body === '' ? 'GET' : 'POST';
      const sent = request(`${service.url}${path}`, { agent, headers, method }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject).end(body);
    });
  }

  /** How many requests were refused while several connections sent them without waiting, and the most that may be. */
  async function refusalsOf(headers: Record<string, string>): Promise<{ refused: number; maximum: number }> {
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const began = performance.now();
    const end = began + greedyMilliseconds;
    let refused = 0;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        while (performance.now() < end) if ((await statusOf(agent, headers)) === 429) refused += 1;
      }),
    );
    agent.destroy();
    // The first second has a reserve; each connection had one more refusal under way.
    const maximum = refusalsPerSecond * (1 + (performance.now() - began) / 1_000) + 20;
    return { refused, maximum };
  }

  it('come at a bounded rate for a key, and do not hold up another key', async () => {
    const [greedy, modest] = [await keyWith({ requests_per_second: 1 }), await keyWith({})];
    const refusing = refusalsOf({ apikey: greedy });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; turn < 50; turn += 1) expect(await statusOf(agent, { apikey: modest })).to.equal(200);
    agent.destroy();
    const { refused, maximum } = await refusing;
    expect(refused).to.be.within(1, maximum);
  });

  it('come at a bounded rate for an address without credentials', async () => {
    const { refused, maximum } = await refusalsOf({});
    expect(refused).to.be.within(1, maximum);
  });

  it('are bounded on a connection that sends many requests without waiting for answers', async () => {
    const key = await keyWith({ requests_per_second: 1 });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let answers = '';
    socket.on('data', (chunk) => (answers += chunk.toString('latin1')));
    const one = `GET /subscriptions HTTP/1.1\r\nHost: 127.0.0.1\r\napikey: ${key}\r\n\r\n`;
    socket.write(one.repeat(5 * heldRefusalsMaximum));
    socket.on('error', () => undefined);
    // A process may run late; then more are answered, but never all of them. What was sent last may be lost when the
    // connection ends.
    await once(socket, 'close');
    const count = answers.split('HTTP/1.1 429').length - 1;
    expect(count).to.be.within(refusalsPerSecond, refusalsPerSecond * 10);
  });

  it('discard a body, so that the connection goes on', async () => {
    const key = await keyWith({ requests_per_second: 1 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = JSON.stringify(['x'.repeat(1024 * 1024)]);
    const ports = new Set<number | undefined>();
    agent.on('free', (socket: { localPort?: number }) => ports.add(socket.localPort));
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      statuses.push(await statusOf(agent, { apikey: key }, body, '/event-types/unknown/events'));
    }
    agent.destroy();
    expect(statuses.filter((status) => status === 429)).to.have.length.at.least(2);
    expect(ports.size).to.be.at.most(1);
  });

  it('cut the connection of a body that does not end', async () => {
    const key = await keyWith({ requests_per_second: 1 });
    const headers = { apikey: key };
    await Promise.all([1, 2, 3].map(() => call(`${service.url}/subscriptions`, 'GET', undefined, headers)));
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    const head = 'POST /event-types/unknown/events HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n';
    socket.write(`${head}apikey: ${key}\r\n\r\n`);
    const part = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 32), Buffer.from('\r\n')]);
    const isClosed = once(socket, 'close');
    let sent = 0;
    while (!socket.destroyed && sent < 64 * bodyBytesMaximum) {
      sent += part.length;
      if (!socket.write(part)) await Promise.race([once(socket, 'drain'), isClosed]).catch(() => undefined);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    // What lies in the buffers of both sides comes on top.
    expect(sent).to.be.within(bodyBytesMaximum, 4 * bodyBytesMaximum);
    socket.destroy();
  });
});

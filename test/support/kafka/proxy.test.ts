import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { apiKeys, frameSplitter, int16, int32, readRequest, text, toFrame, type ApiName } from './frames.ts';
import { openKafkaProxy, refuseWith, reportError, type KafkaProxy } from './proxy.ts';

/** Responds to every request with its own body, but to EndTxn with success, and records the correlation ids. */
async function startBroker(): Promise<{ server: Server; port: number; seen: number[] }> {
  const seen: number[] = [];
  const server = createServer((socket) => {
    const response = frameSplitter((frame) => {
      const request = readRequest(frame, '');
      seen.push(request.correlationId);
      const body = request.apiKey === apiKeys.EndTxn ? Buffer.alloc(6) : request.body;
      socket.write(toFrame(int32(request.correlationId), body));
    });
    socket.on('data', response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, seen };
}

interface Client {
  readonly socket: Socket;
  readonly ended: Promise<unknown>;
  send(api: ApiName, correlationId: number, body?: string): void;
  /** Resolves with the next response: its correlation id and its body in hexadecimal. */
  next(): Promise<[number, string]>;
}

async function connectClient(proxy: KafkaProxy, port: number): Promise<Client> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const connecting = proxy.socketFactory({ host: '127.0.0.1', port, onConnect: () => resolve(connecting) });
    connecting.once('error', reject);
  });
  const responses: [number, string][] = [];
  const readers: ((response: [number, string]) => void)[] = [];
  const read = frameSplitter((frame) => {
    const response: [number, string] = [frame.readInt32BE(0), frame.subarray(4).toString('hex')];
    const reader = readers.shift();
    if (reader === undefined) responses.push(response);
    else reader(response);
  });
  socket.on('data', read);
  return {
    socket,
    ended: once(socket, 'end'),
    send(api, correlationId, body = '') {
      const header = [int16(apiKeys[api]), int16(1), int32(correlationId), text('client')];
      socket.write(toFrame(...header, Buffer.from(body, 'hex')));
    },
    next: () =>
      new Promise((resolve) => {
        const response = responses.shift();
        if (response === undefined) readers.push(resolve);
        else resolve(response);
      }),
  };
}

describe('the Kafka proxy', () => {
  let broker: Awaited<ReturnType<typeof startBroker>>;
  let proxy: KafkaProxy;
  let client: Client;

  beforeEach(async () => {
    broker = await startBroker();
    proxy = openKafkaProxy();
    client = await connectClient(proxy, broker.port);
  });

  afterEach(async () => {
    client.socket.destroy();
    await proxy.close();
    broker.server.close();
  });

  it('lets requests and responses pass and counts them', async () => {
    client.send('Metadata', 1, 'abcd');
    client.send('Produce', 2, 'ef');
    expect([await client.next(), await client.next()]).to.deep.equal([
      [1, 'abcd'],
      [2, 'ef'],
    ]);
    expect([proxy.requests('Produce'), proxy.responses('Produce'), proxy.requests('Fetch')]).to.deep.equal([1, 1, 0]);
  });

  it('responds in place of the broker', async () => {
    const injected = proxy.inject({ api: 'EndTxn', fault: refuseWith(51) });
    client.send('EndTxn', 1);
    client.send('EndTxn', 2);
    expect([await client.next(), await client.next()]).to.deep.equal([
      [1, '000000000033'],
      [2, '000000000000'],
    ]);
    expect([broker.seen, injected.hits]).to.deep.equal([[2], 1]);
  });

  it('reports an error although the broker carried out the request', async () => {
    proxy.inject({ api: 'EndTxn', fault: reportError(16) });
    client.send('EndTxn', 1);
    expect(await client.next()).to.deep.equal([1, '000000000010']);
    expect(broker.seen).to.deep.equal([1]);
  });

  it('loses a request, so that the broker never sees it', async () => {
    const { hit } = proxy.inject({ api: 'Produce', fault: { kind: 'lose request', disconnect: false } });
    client.send('Produce', 1);
    client.send('Produce', 2, '22');
    expect(await client.next()).to.deep.equal([2, '22']);
    expect([(await hit).correlationId, broker.seen]).to.deep.equal([1, [2]]);
  });

  it('loses a response after the broker carried out the request, and cuts the connection on request', async () => {
    const { hit } = proxy.inject({ api: 'Produce', nth: 2, fault: { kind: 'lose response', disconnect: true } });
    client.send('Produce', 1, '11');
    expect(await client.next()).to.deep.equal([1, '11']);
    client.send('Produce', 2);
    await client.ended;
    expect([(await hit).correlationId, broker.seen, proxy.responses('Produce')]).to.deep.equal([2, [1, 2], 1]);
  });

  it('keeps the order of a connection when a response or a request is late', async () => {
    proxy.inject({ api: 'Produce', fault: { kind: 'delay response', milliseconds: 30 } });
    proxy.inject({ api: 'Fetch', fault: { kind: 'delay request', milliseconds: 30 } });
    const before = performance.now();
    for (const [api, id] of [
      ['Produce', 1],
      ['Metadata', 2],
      ['Fetch', 3],
      ['Metadata', 4],
    ] as const) {
      client.send(api, id);
    }
    const responses = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(responses.map(([id]) => id)).to.deep.equal([1, 2, 3, 4]);
    expect(performance.now() - before).to.be.at.least(28);
  });

  it('applies a rule only where its condition is true, as often as stated, and not after its removal', async () => {
    const injected = proxy.inject({
      api: 'Fetch',
      when: (request) => request.body.length > 0,
      times: 2,
      fault: { kind: 'answer', body: () => Buffer.from('ff', 'hex') },
    });
    for (const [id, body] of [
      [1, ''],
      [2, '02'],
      [3, '03'],
      [4, '04'],
    ] as const)
      client.send('Fetch', id, body);
    const responses = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(new Map(responses)).to.deep.equal(
      new Map([
        [1, ''],
        [2, 'ff'],
        [3, 'ff'],
        [4, '04'],
      ]),
    );
    expect(injected.hits).to.equal(2);

    const removed = proxy.inject({ api: 'Fetch', fault: { kind: 'lose request', disconnect: false } });
    removed.remove();
    client.send('Fetch', 5, '05');
    expect(await client.next()).to.deep.equal([5, '05']);
  });

  it('leaves a rule unused whose patch finds nothing to patch', async () => {
    const injected = proxy.inject({ api: 'OffsetCommit', fault: reportError(16) });
    client.send('OffsetCommit', 1, '0000000000000000');
    expect(await client.next()).to.deep.equal([1, '0000000000000000']);
    expect(injected.hits).to.equal(0);
  });

  it('cuts the connections to one broker', async () => {
    proxy.disconnect('127.0.0.1:1');
    client.send('Metadata', 1);
    await client.next();
    proxy.disconnect(`127.0.0.1:${broker.port}`);
    await client.ended;
  });

  it('ends a connection when its broker is gone', async () => {
    const orphan = await connectClient(proxy, 1);
    await orphan.ended;
    orphan.socket.destroy();
  });
});

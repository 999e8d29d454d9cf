import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';

async function startEcho(prefix = ''): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => socket.write(prefix + bytes.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

describe('the TCP proxy', () => {
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let proxy: TcpProxy;
  const sockets: Socket[] = [];

  async function connectClient(): Promise<Socket> {
    const socket = connect({ host: proxy.host, port: proxy.port, noDelay: true });
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  async function exchange(socket: Socket, message: string): Promise<string> {
    socket.write(message);
    const [reply] = (await once(socket, 'data')) as [Buffer];
    return reply.toString();
  }

  /** The error code with which a connection ends. */
  async function deathOf(socket: Socket): Promise<string | undefined> {
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    return error.code;
  }

  beforeEach(async () => {
    echo = await startEcho();
    proxy = await openTcpProxy({ host: '127.0.0.1', port: echo.port });
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await proxy.close();
    echo.server.close();
  });

  it('passes data in both directions, and counts the connections', async () => {
    const socket = await connectClient();
    expect(await exchange(socket, 'one')).to.equal('one');
    expect(await exchange(socket, 'two')).to.equal('two');
    expect(proxy.connections).to.deep.equal({ open: 1, made: 1 });
    socket.end();
    await once(socket, 'close');
  });

  it('resets open connections and refuses new ones when cut, and passes again when healed', async () => {
    const socket = await connectClient();
    await exchange(socket, 'one');
    const death = deathOf(socket);
    proxy.setMode({ kind: 'cut' });
    expect(await death).to.equal('ECONNRESET');

    const refused = connect({ host: proxy.host, port: proxy.port });
    expect(await deathOf(refused)).to.equal('ECONNRESET');

    proxy.setMode({ kind: 'pass' });
    expect(await exchange(await connectClient(), 'again')).to.equal('again');
  });

  it('swallows everything when half-open, and resets such connections afterwards', async () => {
    const before = await connectClient();
    await exchange(before, 'one');
    proxy.setMode({ kind: 'half-open' });
    const during = await connectClient();
    let replies = 0;
    for (const socket of [before, during]) {
      socket.on('data', () => (replies += 1));
      socket.write('lost');
    }
    await sleep(50);
    expect(replies).to.equal(0);

    const deaths = Promise.all([deathOf(before), deathOf(during)]);
    proxy.setMode({ kind: 'pass' });
    expect(await deaths).to.deep.equal(['ECONNRESET', 'ECONNRESET']);
  });

  for (const [direction, least] of [
    [undefined, 78],
    ['to target', 38],
    ['to client', 38],
  ] as const) {
    it(`delays ${direction ?? 'both ways'}`, async () => {
      const socket = await connectClient();
      proxy.setMode({ kind: 'delay', milliseconds: 40, ...(direction === undefined ? {} : { direction }) });
      const before = performance.now();
      expect(await exchange(socket, 'late')).to.equal('late');
      expect(performance.now() - before).to.be.at.least(least);
    });
  }

  it('keeps the order when a delay ends', async () => {
    const socket = await connectClient();
    proxy.setMode({ kind: 'delay', milliseconds: 40, direction: 'to target' });
    socket.write('1');
    await sleep(10);
    proxy.setMode({ kind: 'pass' });
    socket.write('2');
    let received = '';
    socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
    while (received.length < 2) await once(socket, 'data');
    expect(received).to.equal('12');
  });

  it('holds everything back while paused and resumes where it was', async () => {
    const socket = await connectClient();
    await exchange(socket, 'one');
    proxy.setMode({ kind: 'pause' });
    let received = '';
    socket.on('data', (bytes: Buffer) => (received += bytes.toString()));
    socket.write('two');
    await sleep(30);
    expect(received).to.equal('');
    proxy.setMode({ kind: 'pass' });
    await once(socket, 'data');
    expect(received).to.equal('two');
  });

  it('sends new connections to another target', async () => {
    const other = await startEcho('other ');
    proxy.setTarget({ host: '127.0.0.1', port: other.port });
    const socket = await connectClient();
    expect(await exchange(socket, 'one')).to.equal('other one');
    socket.destroy();
    other.server.close();
  });

  it('resets a client whose target is down', async () => {
    proxy.setTarget({ host: '127.0.0.1', port: 1 });
    expect(await deathOf(connect({ host: proxy.host, port: proxy.port }))).to.equal('ECONNRESET');
  });
});

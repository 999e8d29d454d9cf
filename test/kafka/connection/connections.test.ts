import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { KafkaConnections } from '../../../src/kafka/connection/connections.ts';
import { metadataRequest } from '../../../src/kafka/protocol/metadata-request.ts';
import { silentLogger } from '../../../src/logger.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { int16, int32, int64, text, type ApiName, type KafkaRequest } from '../../support/kafka/frames.ts';
import { eventually } from '../../support/eventually.ts';
import { openKafkaProxy, type KafkaProxy } from '../../support/kafka/proxy.ts';
import { appendTo, codeOf, records } from '../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../log-behind-proxy.ts';

/** How long the broker reports that a quota is exceeded: longer than requests on a busy machine take. Milliseconds. */
const throttleMilliseconds = 2_000;

describeOnCluster('Connections to Kafka', (cluster) => {
  let subject: LogBehindProxy;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(() => subject.close());

  /** Adds a throttle time to the next response, at its beginning or end. */
  function throttleNext(api: ApiName, isLast: boolean): void {
    const patch = (body: Buffer): Buffer => {
      const patched = Buffer.from(body);
      patched.writeInt32BE(throttleMilliseconds, isLast ? patched.length - 4 : 0);
      return patched;
    };
    subject.proxy.inject({ api, fault: { kind: 'patch response', patch } });
  }

  async function millisecondsOf(action: () => Promise<unknown>): Promise<number> {
    const startedAt = performance.now();
    await action();
    return performance.now() - startedAt;
  }

  it('send nothing while the broker reports that a quota is exceeded', async () => {
    const where = await subject.newPartition();
    const append = (): Promise<number> => millisecondsOf(() => appendTo(subject.log, where, records('a')));
    const fetchBounds = (): Promise<number> => millisecondsOf(() => subject.log.bounds([where]));
    await append();
    throttleNext('Produce', true);
    await append();
    expect(await append()).to.be.above(throttleMilliseconds - 100);
    throttleNext('ListOffsets', false);
    await fetchBounds();
    expect(await fetchBounds()).to.be.above(throttleMilliseconds - 100);
    expect(await append()).to.be.below(throttleMilliseconds - 100);
    expect(await fetchBounds()).to.be.below(throttleMilliseconds - 100);
  });
});

describeOnCluster('Connections to Kafka of one purpose', (cluster) => {
  it('are one for requests that come together, and another one after it was lost', async () => {
    const proxy = openKafkaProxy();
    let sockets = 0;
    const socketFactory: typeof proxy.socketFactory = (wanted) => {
      sockets += 1;
      return proxy.socketFactory(wanted);
    };
    const connections = new KafkaConnections({ clientId: 'test', logger: silentLogger, socketFactory });
    const [host = '', port] = (cluster().kafkaBrokers[0] ?? '').split(':');
    const broker = { host, port: Number(port) };
    const ask = () => connections.send(broker, 'metadata', metadataRequest([]));
    expect(connections.current(broker, 'metadata')).to.equal(undefined);
    await Promise.all([ask(), ask(), ask()]);
    const first = connections.current(broker, 'metadata');
    await ask();
    expect([sockets, connections.current(broker, 'metadata') === first]).to.deep.equal([1, true]);
    proxy.disconnect();
    await eventually(() => connections.current(broker, 'metadata') === undefined);
    await Promise.all([ask(), ask()]);
    expect([sockets, connections.current(broker, 'metadata') === first]).to.deep.equal([2, false]);
    await connections.close();
    await proxy.close();
  });
});

describeOnCluster('Connections to Kafka with a password', (cluster) => {
  const password = 'a secret';

  /** Lets the proxy authenticate clients, as the brokers of the tests do not. Returns the passwords it receives. */
  function authenticate(proxy: KafkaProxy, sessionMilliseconds: number, accepts = () => true): string[] {
    const received: string[] = [];
    const handshake = Buffer.concat([int16(0), int32(1), text('PLAIN')]);
    proxy.inject({ api: 'SaslHandshake', times: Infinity, fault: { kind: 'answer', body: () => handshake } });
    const body = (request: KafkaRequest): Buffer => {
      const given = request.body.toString().split('\0').at(-1) ?? '';
      received.push(given);
      const isRight = given === password && accepts();
      const parts = [int16(isRight ? 0 : 58), text(isRight ? '' : 'No.'), int32(0), int64(BigInt(sessionMilliseconds))];
      return Buffer.concat(request.apiVersion === 0 ? parts.slice(0, 3) : parts);
    };
    proxy.inject({ api: 'SaslAuthenticate', times: Infinity, fault: { kind: 'answer', body } });
    return received;
  }

  function optionsOf(proxy: KafkaProxy, given: string) {
    const sasl = { mechanism: 'plain', username: 'lendstream', password: given } as const;
    const connectionsOptions = { clientId: 'test', logger: silentLogger, sasl, socketFactory: proxy.socketFactory };
    const [host = '', port] = (cluster().kafkaBrokers[0] ?? '').split(':');
    return { connections: new KafkaConnections(connectionsOptions), broker: { host, port: Number(port) } };
  }

  it('authenticate before their first request, and again before their session ends', async () => {
    const proxy = openKafkaProxy();
    // Sessions are renewed ten seconds before their end: these at every request.
    const passwords = authenticate(proxy, 10_000);
    const { connections, broker } = optionsOf(proxy, password);
    const ask = () => connections.send(broker, 'metadata', metadataRequest([]));
    expect((await ask()).brokers).to.have.length.above(0);
    const before = passwords.length;
    await ask();
    await ask();
    expect([before >= 1, passwords.length - before]).to.deep.equal([true, 2]);
    expect(new Set(passwords)).to.deep.equal(new Set([password]));
    await connections.close();
    await proxy.close();
  });

  it('are opened again after the renewal of a session was refused', async () => {
    const proxy = openKafkaProxy();
    let isAccepted = true;
    authenticate(proxy, 10_000, () => isAccepted);
    const { connections, broker } = optionsOf(proxy, password);
    const ask = () => connections.send(broker, 'metadata', metadataRequest([]));
    await ask();
    isAccepted = false;
    expect(await codeOf(ask())).to.equal('LOG_UNAVAILABLE');
    expect(connections.current(broker, 'metadata')).to.equal(undefined);
    isAccepted = true;
    expect((await ask()).brokers).to.have.length.above(0);
    await connections.close();
    await proxy.close();
  });

  it('authenticate once when their session does not end', async () => {
    const proxy = openKafkaProxy();
    const passwords = authenticate(proxy, 0);
    const { connections, broker } = optionsOf(proxy, password);
    for (let request = 0; request < 3; request += 1) await connections.send(broker, 'metadata', metadataRequest([]));
    expect(passwords).to.deep.equal([password]);
    await connections.close();
    await proxy.close();
  });

  it('send nothing when the password is wrong', async () => {
    const proxy = openKafkaProxy();
    authenticate(proxy, 0);
    const { connections, broker } = optionsOf(proxy, 'wrong');
    expect(await codeOf(connections.send(broker, 'metadata', metadataRequest([])))).to.equal('LOG_UNAVAILABLE');
    expect(proxy.requests('Metadata')).to.equal(0);
    await connections.close();
    await proxy.close();
  });
});

describe('Closed connections to Kafka', () => {
  it('send nothing', async () => {
    let sockets = 0;
    const socketFactory = (): never => {
      sockets += 1;
      throw new Error('No socket is needed');
    };
    const connections = new KafkaConnections({ clientId: 'test', logger: silentLogger, socketFactory });
    await connections.close();
    const sent = connections.send({ host: '127.0.0.1', port: 1 }, 'metadata', metadataRequest([]));
    expect([await codeOf(sent), sockets]).to.deep.equal(['LOG_CLOSED', 0]);
  });
});

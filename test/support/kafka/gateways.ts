import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import {
  apiKeys,
  frameSplitter,
  int32,
  readRequest,
  toFrame,
  withAddresses,
  type BrokerAddress,
  type KafkaRequest,
} from './frames.ts';
import { openTcpProxy, type TcpProxy } from '../tcp-proxy.ts';

/**
 * Kafka brokers that other processes reach through proxies. All addresses in responses are replaced by those of the
 * proxies, so that a client never connects to a broker directly. Connections among the brokers do not pass the proxies.
 */
export interface KafkaGateways {
  /** In the order of the brokers: the addresses of the proxies, for clients. */
  readonly proxies: readonly TcpProxy[];
  close(): Promise<void>;
}

/** @param brokers `host:port` of each broker, as they advertise themselves */
export async function openKafkaGateways(brokers: readonly string[]): Promise<KafkaGateways> {
  const proxyOf = new Map<string, BrokerAddress>();
  const replace = (address: BrokerAddress): BrokerAddress => {
    const proxy = proxyOf.get(`${address.host}:${address.port}`);
    if (proxy === undefined) throw new Error(`There is no proxy for ${address.host}:${address.port}`);
    return proxy;
  };
  const relays: Relay[] = [];
  const proxies: TcpProxy[] = [];
  for (const broker of brokers) {
    const relay = await openRelay(broker, replace);
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: relay.port });
    proxyOf.set(broker, { host: proxy.host, port: proxy.port });
    relays.push(relay);
    proxies.push(proxy);
  }
  return {
    proxies,
    async close() {
      for (const proxy of proxies) await proxy.close();
      for (const relay of relays) await relay.close();
    },
  };
}

interface Relay {
  readonly port: number;
  close(): Promise<void>;
}

/** Requests whose responses contain addresses. */
const apisWithAddresses: ReadonlySet<number> = new Set([apiKeys.Metadata, apiKeys.FindCoordinator]);

async function openRelay(broker: string, replace: (address: BrokerAddress) => BrokerAddress): Promise<Relay> {
  const colon = broker.lastIndexOf(':');
  const target = { host: broker.slice(0, colon), port: Number(broker.slice(colon + 1)) };
  const open = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ ...target, noDelay: true });
    const waiting = new Map<number, KafkaRequest>();
    const noteRequest = frameSplitter((frame) => {
      if (!apisWithAddresses.has(frame.readInt16BE(0))) return;
      const request = readRequest(frame, broker);
      waiting.set(request.correlationId, request);
    });
    const relayResponse = frameSplitter((frame) => {
      const correlationId = frame.readInt32BE(0);
      const request = waiting.get(correlationId);
      waiting.delete(correlationId);
      if (request === undefined) client.write(toFrame(frame));
      else client.write(toFrame(int32(correlationId), withAddresses(request, frame.subarray(4), replace)));
    });
    open.add(client);
    client.on('data', (bytes: Buffer) => {
      noteRequest(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', relayResponse);
    for (const socket of [client, upstream]) {
      // The end of one side ends the other: 'close' follows.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        open.delete(client);
        client.resetAndDestroy();
        upstream.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const client of open) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

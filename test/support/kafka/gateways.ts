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
import { openTcpProxy, type Editor, type TcpProxy } from '../tcp-proxy.ts';

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
  const proxies: TcpProxy[] = [];
  for (const broker of brokers) {
    const colon = broker.lastIndexOf(':');
    const target = { host: broker.slice(0, colon), port: Number(broker.slice(colon + 1)) };
    const proxy = await openTcpProxy(target, 0, () => editorOf(broker, replace));
    proxyOf.set(broker, { host: proxy.host, port: proxy.port });
    proxies.push(proxy);
  }
  return {
    proxies,
    async close() {
      for (const proxy of proxies) await proxy.close();
    },
  };
}

/** Requests whose responses contain addresses. */
const apisWithAddresses: ReadonlySet<number> = new Set([apiKeys.Metadata, apiKeys.FindCoordinator]);

/** Replaces the addresses in the responses on one connection. Responses pass as a whole. */
function editorOf(broker: string, replace: (address: BrokerAddress) => BrokerAddress): Editor {
  const waiting = new Map<number, KafkaRequest>();
  let responses: Buffer[] = [];
  const noteRequest = frameSplitter((frame) => {
    if (!apisWithAddresses.has(frame.readInt16BE(0))) return;
    const request = readRequest(frame, broker);
    waiting.set(request.correlationId, request);
  });
  const takeResponse = frameSplitter((frame) => {
    const correlationId = frame.readInt32BE(0);
    const request = waiting.get(correlationId);
    waiting.delete(correlationId);
    const response =
      request === undefined
        ? toFrame(frame)
        : toFrame(int32(correlationId), withAddresses(request, frame.subarray(4), replace));
    responses.push(response);
  });
  return {
    toTarget(bytes) {
      noteRequest(bytes);
      return bytes;
    },
    toClient(bytes) {
      takeResponse(bytes);
      const complete = responses;
      responses = [];
      return complete.length === 1 && complete[0] !== undefined ? complete[0] : Buffer.concat(complete);
    },
  };
}

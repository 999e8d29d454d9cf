import { once } from 'node:events';
import { connect, createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { apiKeys, frameSplitter, int32, readRequest, refusal, toFrame, withErrorCode } from './frames.ts';
import type { ApiName, KafkaRequest } from './frames.ts';

/** The fault of a request that a rule matches. */
export type Fault =
  /** The broker never sees the request; the client gets this body as the response. */
  | { readonly kind: 'answer'; readonly body: (request: KafkaRequest) => Buffer }
  /** The broker never sees the request, and no response comes. */
  | { readonly kind: 'lose request'; readonly disconnect: boolean }
  /** The broker carries out the request; its response never arrives. */
  | { readonly kind: 'lose response'; readonly disconnect: boolean }
  /** The request reaches the broker late, with everything after it on the connection. */
  | { readonly kind: 'delay request'; readonly milliseconds: number }
  /** The response reaches the client late, with everything after it on the connection. */
  | { readonly kind: 'delay response'; readonly milliseconds: number }
  /** The client gets another body; undefined leaves the response and the rule unused. */
  | { readonly kind: 'patch response'; readonly patch: (body: Buffer, request: KafkaRequest) => Buffer | undefined };

/** The requests to which a fault applies. */
export interface FaultRule {
  readonly api: ApiName;
  /** Further conditions, such as the topic or the broker. */
  readonly when?: (request: KafkaRequest) => boolean;
  /**
   * The number of the first matching request that the fault applies to, counted from when the rule was added. Default
   * 1.
   */
  readonly nth?: number;
  /** The number of requests that the fault applies to. Default 1. */
  readonly times?: number;
  readonly fault: Fault;
}

/** A rule in use. */
export interface InjectedFault {
  /** The number of requests that it was applied to. */
  readonly hits: number;
  /**
   * Resolves with the first request that the rule was applied to. For a lost response: when the broker has responded.
   */
  readonly hit: Promise<KafkaRequest>;
  remove(): void;
}

/** The arguments that kafkajs passes to a `socketFactory`. */
export interface SocketFactoryArguments {
  readonly host: string;
  readonly port: number;
  readonly ssl?: unknown;
  readonly onConnect: () => void;
}

/** Injects faults between one client and all brokers that it connects to. */
export interface KafkaProxy {
  /** The `socketFactory` of the client: the bytes of every broker pass here. No TLS. */
  readonly socketFactory: (wanted: SocketFactoryArguments) => Socket;
  /** Adds a rule. When several rules match a request, the one added first applies. */
  inject(rule: FaultRule): InjectedFault;
  /** The number of requests of this kind that the clients have sent, including faulty ones. */
  requests(api: ApiName): number;
  /** The number of responses to requests of this kind that a broker has sent to a client. */
  responses(api: ApiName): number;
  /** Cuts every open connection, or those to one broker (`host:port`). */
  disconnect(target?: string): void;
  close(): Promise<void>;
}

/** A fault for `inject`: the request is refused with the code, and the broker never sees it. */
export function refuseWith(errorCode: number): Fault {
  return { kind: 'answer', body: (request) => refusal(request, errorCode) };
}

/** A fault for `inject`: the broker carries out the request, but the response has the code for its first partition. */
export function reportError(errorCode: number): Fault {
  return { kind: 'patch response', patch: (body, request) => withErrorCode(request, body, errorCode) };
}

interface Rule {
  readonly rule: FaultRule;
  seen: number;
  hits: number;
  readonly onHit: (request: KafkaRequest) => void;
}

interface Pending {
  readonly request: KafkaRequest;
  readonly rule: Rule | undefined;
}

/** Opens a proxy. It listens on a separate port for each broker, from the first connection to it. */
export function openKafkaProxy(): KafkaProxy {
  const listeners = new Map<string, Promise<Server>>();
  const connections = new Map<Socket, string>();
  const rules = new Set<Rule>();
  const requests = new Map<number, number>();
  const responses = new Map<number, number>();

  const matching = (request: KafkaRequest): Rule | undefined => {
    let found: Rule | undefined;
    for (const candidate of rules) {
      const { api, when, nth = 1, times = 1 } = candidate.rule;
      if (apiKeys[api] !== request.apiKey || (when !== undefined && !when(request))) continue;
      candidate.seen += 1;
      if (found === undefined && candidate.seen >= nth && candidate.hits < times) found = candidate;
    }
    if (found !== undefined) found.hits += 1;
    return found;
  };

  const serve = (client: Socket, target: string): void => {
    const { host, port } = addressOf(target);
    const broker = connect({ host, port });
    connections.set(client, target);
    const pending = new Map<number, Pending>();
    const toBroker = inOrder((bytes) => broker.write(bytes));
    const toClient = inOrder((bytes) => client.write(bytes));
    const cut = (): void => {
      client.destroy();
      broker.destroy();
    };
    client.on('close', () => {
      connections.delete(client);
      broker.destroy();
    });
    broker.on('close', () => toClient.afterwards(() => client.end()));
    // Losing connections is the purpose of this proxy: 'close' follows and is handled above.
    for (const socket of [client, broker]) socket.on('error', () => socket.destroy());

    client.on(
      'data',
      frameSplitter((frame) => {
        const request = readRequest(frame, target);
        increment(requests, request.apiKey);
        const rule = matching(request);
        const fault = rule?.rule.fault;
        if (fault?.kind === 'lose request' || fault?.kind === 'answer') {
          if (fault.kind === 'answer') toClient.write(toFrame(int32(request.correlationId), fault.body(request)));
          else if (fault.disconnect) cut();
          rule?.onHit(request);
          return;
        }
        pending.set(request.correlationId, { request, rule });
        if (fault?.kind === 'delay request') rule?.onHit(request);
        toBroker.write(toFrame(frame), fault?.kind === 'delay request' ? fault.milliseconds : 0);
      }),
    );

    broker.on(
      'data',
      frameSplitter((frame) => {
        const correlationId = frame.readInt32BE(0);
        const sent = pending.get(correlationId);
        pending.delete(correlationId);
        const { request, rule } = sent ?? {};
        const fault = rule?.rule.fault;
        if (request === undefined) return toClient.write(toFrame(frame));
        if (fault?.kind === 'lose response') {
          if (fault.disconnect) cut();
          rule?.onHit(request);
          return undefined;
        }
        increment(responses, request.apiKey);
        if (rule === undefined || fault?.kind === 'delay request') return toClient.write(toFrame(frame));
        if (fault?.kind === 'delay response') {
          toClient.write(toFrame(frame), fault.milliseconds);
          return rule.onHit(request);
        }
        const patched = fault?.kind === 'patch response' ? fault.patch(frame.subarray(4), request) : undefined;
        toClient.write(patched === undefined ? toFrame(frame) : toFrame(int32(correlationId), patched));
        if (patched === undefined) rule.hits -= 1;
        else rule.onHit(request);
        return undefined;
      }),
    );
  };

  const listen = async (target: string): Promise<Server> => {
    const server = createServer({ noDelay: true }, (client) => serve(client, target));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  return {
    socketFactory({ host, port, ssl, onConnect }) {
      if (ssl !== undefined && ssl !== null && ssl !== false) throw new Error('The proxy reads plain connections only');
      const target = `${host}:${port}`;
      const listener = listeners.get(target) ?? listen(target);
      listeners.set(target, listener);
      const socket = new Socket();
      socket.once('connect', onConnect);
      socket.setNoDelay(true);
      listener.then(
        (server) => socket.connect((server.address() as AddressInfo).port, '127.0.0.1'),
        (error: Error) => socket.destroy(error),
      );
      return socket;
    },
    inject(rule) {
      let onHit: (request: KafkaRequest) => void = () => {};
      const hit = new Promise<KafkaRequest>((resolve) => {
        onHit = resolve;
      });
      const added: Rule = { rule, seen: 0, hits: 0, onHit };
      rules.add(added);
      return {
        get hits() {
          return added.hits;
        },
        hit,
        remove: () => {
          rules.delete(added);
        },
      };
    },
    requests: (api) => requests.get(apiKeys[api]) ?? 0,
    responses: (api) => responses.get(apiKeys[api]) ?? 0,
    disconnect(target) {
      for (const [client, reached] of connections) {
        if (target === undefined || target === reached) client.destroy();
      }
    },
    async close() {
      for (const client of connections.keys()) client.destroy();
      for (const listener of listeners.values()) {
        const server = await listener;
        server.close();
        await once(server, 'close');
      }
    },
  };
}

/** Writes in the order of the calls, each after its delay. */
function inOrder(write: (bytes: Buffer) => void) {
  let last: Promise<void> | undefined;
  const queue = (step: () => void, milliseconds = 0): void => {
    if (last === undefined && milliseconds === 0) return step();
    const before = last ?? Promise.resolve();
    const mine = before
      .then(() => (milliseconds === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, milliseconds))))
      .then(() => {
        if (last === mine) last = undefined;
        step();
      });
    last = mine;
  };
  return {
    write: (bytes: Buffer, milliseconds = 0): void => queue(() => write(bytes), milliseconds),
    afterwards: (step: () => void): void => queue(step),
  };
}

function addressOf(target: string): { readonly host: string; readonly port: number } {
  const colon = target.lastIndexOf(':');
  return { host: target.slice(0, colon), port: Number(target.slice(colon + 1)) };
}

function increment(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

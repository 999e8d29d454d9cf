/**
 * Connections to the brokers of Kafka, and which broker leads which partition.
 * In: requests of `protocol/`. Out: their responses; requests are repeated where that is safe.
 * Start with `KafkaConnections` below. `cluster-metadata.ts` knows the leaders, `coordinator.ts` the coordinators of
 * groups and transactions, and `retry.ts` says how long a request is repeated.
 */

import type { ISocketFactory, SASLOptions } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import connectionPoolBuilder, {
  type Connection,
  type ConnectionPool,
} from 'kafkajs/src/cluster/connectionPoolBuilder.js';
import loggers from 'kafkajs/src/loggers/index.js';
import defaultSocketFactory from 'kafkajs/src/network/socketFactory.js';
import { connect, type Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { LendstreamError, describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { FrameAssembler } from '../protocol/response-frames.ts';
import type { KafkaRequest } from '../protocol/request.ts';
import './request-queues.ts';
import { RequestsInFlight } from './requests-in-flight.ts';
import { WireReader, WireWriter } from '../protocol/wire.ts';

/**
 * Connections to the brokers: the only file that touches kafkajs's internals, beside `request-queues.ts`. kafkajs
 * provides the socket, TLS, SASL, the framing of requests and the matching of responses. The code in `kafka/` encodes
 * the requests and decodes the responses.
 *
 * A broker responds to the requests of one connection in order, so a long poll delays everything behind it. Each
 * purpose therefore has its own connection to each broker.
 */
export type ConnectionPurpose =
  | 'metadata'
  | 'long-poll'
  | 'middle-poll'
  | 'short-poll'
  | 'catch-up'
  | 'produce'
  | 'coordinator';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ConnectionsOptions {
  readonly clientId: string;
  readonly logger: Logger;
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
  /** How sockets are made; tests put proxies in between. */
  readonly socketFactory?: ISocketFactory | undefined;
}

/** How long a broker may take to accept a connection. Milliseconds. */
const connectTimeoutMilliseconds = 1_000;

/**
 * How long a response may take, on top of what a request grants the broker. It bounds how long a hung broker goes
 * unnoticed. Milliseconds.
 */
const responseTimeoutMilliseconds = 5_000;

const authenticationMilliseconds = 10_000;

/** How much one read of a socket takes at most, unless the rest of a large response is known to follow. Bytes. */
const readBytes = 64 * 1024;

const keepAliveMilliseconds = 60_000;

/** How long before its end a SASL session is renewed; brokers have to allow sessions longer than this. Milliseconds. */
const reauthenticationMilliseconds = 10_000;

/**
 * The connections of one log to its brokers, at most one per purpose and broker. A connection is opened by its first
 * request, and again after it was lost.
 */
export class KafkaConnections {
  readonly #options: ConnectionsOptions;
  /** By purpose and address. */
  readonly #connections = new Map<string, DedicatedConnection>();
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Sends one request and returns the broker's response, whatever error codes it contains.
   * @throws LOG_UNAVAILABLE: the broker was not reached, nothing was sent
   * @throws OUTCOME_UNKNOWN: the request was sent and no readable response came
   * @throws LOG_CLOSED
   */
  async send<Response>(
    to: BrokerAddress,
    purpose: ConnectionPurpose,
    request: KafkaRequest<Response>,
  ): Promise<Response> {
    if (this.#isClosed) throw new LendstreamError('LOG_CLOSED', 'The log is closed.');
    const key = keyOf(purpose, to);
    let connection = this.#connections.get(key);
    if (connection === undefined) {
      connection = new DedicatedConnection(to, this.#options);
      this.#connections.set(key, connection);
    }
    return connection.send(request);
  }

  /**
   * The connection that the next request takes, for comparison with another one; undefined when it will be a new one.
   * As long as it stays the same, the broker has not gone away in between.
   */
  current(to: BrokerAddress, purpose: ConnectionPurpose): object | undefined {
    return this.#connections.get(keyOf(purpose, to))?.current;
  }

  /** Closes every connection. Requests without a response fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close();
    this.#connections.clear();
  }
}

/** Where the bytes of a socket go. */
interface Receiver {
  /** @param bytes May be used again when this returns. */
  receive(bytes: Buffer): void;
  /** Where to read the rest of a large response, as {@link FrameAssembler.rest} says. */
  rest(): Buffer | undefined;
  receivedInPlace(count: number): void;
}

/** Sends requests to brokers, as {@link KafkaConnections.send} does. */
export type RequestSender = Pick<KafkaConnections, 'send'>;

function keyOf(purpose: ConnectionPurpose, { host, port }: BrokerAddress): string {
  return `${purpose} ${host}:${port}`;
}

class DedicatedConnection {
  readonly #address: BrokerAddress;
  readonly #options: ConnectionsOptions;
  #pool: ConnectionPool | undefined;
  /** The opening under way, which all requests share: kafkajs would open a socket for each of them. */
  #opening: Promise<Connection> | undefined;
  #current: Connection | undefined;
  #isClosed = false;
  /** Where the bytes of a socket go once its connection is open. */
  readonly #receivers = new WeakMap<Socket, Receiver>();

  constructor(address: BrokerAddress, options: ConnectionsOptions) {
    this.#address = address;
    this.#options = options;
  }

  get current(): object | undefined {
    return this.#current?.isConnected() === true ? this.#current : undefined;
  }

  async send<Response>(request: KafkaRequest<Response>): Promise<Response> {
    const connection = await this.#readyConnection();
    try {
      const response = bodyOf(request, await exchange(connection, request));
      connection.requestQueue.maybeThrottle(throttleMilliseconds(request, response));
      return request.decode(response);
    } catch (error) {
      // After a missing response the next one could be late as well, and after an unreadable one nothing can be
      // trusted.
      if (this.#current === connection) this.#discard(error);
      throw new LendstreamError(
        'OUTCOME_UNKNOWN',
        `Kafka at ${this.#address.host}:${this.#address.port} did not respond to ${request.name}: ${describeError(error)}`,
        { cause: error },
      );
    }
  }

  /** Returns a connection that can take a request right now. */
  async #readyConnection(): Promise<Connection> {
    const connection = this.#current?.isConnected() === true ? this.#current : await this.#connect();
    try {
      if (this.#options.sasl !== undefined && !connection.isAuthenticated()) await connection.authenticate();
      if (!connection.isConnected()) throw new Error('The connection was closed');
      return connection;
    } catch (error) {
      if (this.#current === connection) this.#discard(error);
      throw this.#unreachable(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#discard(new Error('The log is closed'));
  }

  #connect(): Promise<Connection> {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #open(): Promise<Connection> {
    const { host, port } = this.#address;
    const { clientId, tls, sasl, socketFactory } = this.#options;
    const logger = loggers.createLogger({ level: 0, logCreator: () => () => undefined });
    const builder = connectionPoolBuilder({
      logger,
      socketFactory: socketFactory ?? (tls === undefined ? this.#plainSocketFactory() : defaultSocketFactory()),
      brokers: [`${host}:${port}`],
      clientId,
      connectionTimeout: connectTimeoutMilliseconds,
      requestTimeout: responseTimeoutMilliseconds,
      enforceRequestTimeout: true,
      reauthenticationThreshold: reauthenticationMilliseconds,
      maxInFlightRequests: null,
      ...(tls === undefined ? {} : { ssl: tls }),
      ...(sasl === undefined ? {} : { sasl }),
    });
    try {
      const pool = await builder.build({ host, port, rack: null });
      this.#pool = pool;
      const broker = new Broker({
        connectionPool: pool,
        logger,
        authenticationTimeout: authenticationMilliseconds,
        allowAutoTopicCreation: false,
      });
      await broker.connect();
      const connection = await pool.getConnection(0);
      if (this.#isClosed) throw new Error('The log is closed');
      connection.requestQueue.inflight = new RequestsInFlight();
      this.#interceptResponses(connection);
      this.#current = connection;
      return connection;
    } catch (error) {
      this.#discard(error);
      throw this.#unreachable(error);
    }
  }

  /**
   * Makes sockets that read into one piece of memory over and over, or into the place of a large response. With new
   * memory for every read, the collector would run through the whole heap many times a second while events flow.
   */
  #plainSocketFactory(): ISocketFactory {
    return ({ host, port, onConnect }) => {
      const buffer = Buffer.allocUnsafeSlow(readBytes);
      let inPlace: Buffer | undefined;
      let receiver: Receiver | undefined;
      const socket: Socket = connect(
        {
          host,
          port,
          onread: {
            // Node asks for the memory of the next read after each one.
            buffer: () => (inPlace = receiver?.rest()) ?? buffer,
            callback: (count) => {
              receiver = this.#receivers.get(socket);
              // Until the connection is open kafkajs receives, in its own memory.
              if (receiver === undefined) socket.emit('data', Buffer.from(buffer.subarray(0, count)));
              else if (inPlace === undefined) receiver.receive(buffer.subarray(0, count));
              else receiver.receivedInPlace(count);
              return true;
            },
          },
        },
        onConnect,
      );
      return socket.setKeepAlive(true, keepAliveMilliseconds);
    };
  }

  /**
   * From here on responses are assembled here, because kafkajs copies each one together with the bytes left over before
   * it. kafkajs still receives what belongs to authentication.
   */
  #interceptResponses(connection: Connection): void {
    const assembler = new FrameAssembler((frame) => {
      const correlationId = frame.readInt32BE(0);
      connection.requestQueue.fulfillRequest({
        size: frame.length,
        correlationId,
        payload: frame.subarray(int32Bytes),
      });
    });
    const authenticate = connection.processData.bind(connection);
    connection.processData = (bytes) => {
      if (connection.authHandlers !== null) return authenticate(bytes);
      try {
        assembler.append(bytes);
      } catch (error) {
        this.#discard(error);
      }
    };
    if (connection.socket === undefined) return;
    this.#receivers.set(connection.socket, {
      // kafkajs may keep the bytes of an authentication, so they get their own memory.
      receive: (bytes) => connection.processData(connection.authHandlers === null ? bytes : Buffer.from(bytes)),
      rest: () => (connection.authHandlers === null ? assembler.rest : undefined),
      receivedInPlace: (count) => assembler.receivedInPlace(count),
    });
  }

  #unreachable(cause: unknown): LendstreamError {
    const { host, port } = this.#address;
    return new LendstreamError(
      'LOG_UNAVAILABLE',
      `Kafka at ${host}:${port} cannot be reached: ${describeError(cause)}`,
      {
        cause,
      },
    );
  }

  /** Fails the requests under way and forgets the connection. The next request opens another one. */
  #discard(reason: unknown): void {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#current = undefined;
    if (pool === undefined) return;
    for (const connection of pool.pool) {
      connection.rejectRequests(reason instanceof Error ? reason : new Error(describeError(reason)));
      connection.socket?.destroy();
    }
    pool.destroy().catch((error: unknown) => {
      this.#options.logger.debug({ error: describeError(error) }, 'Cannot close a connection to Kafka cleanly');
    });
  }
}

/**
 * Sends the request through kafkajs's queue, which matches responses to requests and gives up on late ones. Returns the
 * body of the response. kafkajs's own method copies each request twice: a third of the cost of producing.
 */
function exchange<Response>(connection: Connection, request: KafkaRequest<Response>): Promise<Buffer> {
  const { apiKey, apiVersion, name: apiName, brokerMilliseconds = 0 } = request;
  const body = request.encode();
  const pieces = Buffer.isBuffer(body) ? [body] : body;
  const correlationId = connection.nextCorrelationId();
  return new Promise((resolve, reject) => {
    const { socket } = connection;
    if (socket === undefined) return reject(new Error('The connection was closed'));
    connection.requestQueue.push({
      entry: { apiKey, apiName, apiVersion, correlationId, resolve: ({ payload }) => resolve(payload), reject },
      expectResponse: true,
      requestTimeout: responseTimeoutMilliseconds + brokerMilliseconds,
      sendRequest: () => {
        socket.cork();
        socket.write(headerOf(request, correlationId, connection.clientId, pieces));
        for (const piece of pieces) socket.write(piece);
        socket.uncork();
      },
    });
  });
}

/**
 * How long the broker ignores the connection from now on because a quota is used up. A request sent during that time
 * would only wait there, and be treated as lost. Milliseconds.
 */
function throttleMilliseconds({ isThrottleLast }: KafkaRequest<unknown>, response: Buffer): number {
  return response.readInt32BE(isThrottleLast === true ? response.length - int32Bytes : 0);
}

/** The response without the rest of its header. */
function bodyOf({ isFlexible = false }: KafkaRequest<unknown>, response: Buffer): Buffer {
  if (!isFlexible) return response;
  const reader = new WireReader(response);
  reader.skipTags();
  return response.subarray(reader.position);
}

/** Length and header of a request. The header has version 1, or 2 for a flexible request. */
function headerOf(
  { apiKey, apiVersion, isFlexible = false }: KafkaRequest<unknown>,
  correlationId: number,
  clientId: string,
  pieces: readonly Buffer[],
): Buffer {
  const writer = new WireWriter().int32(0).int16(apiKey).int16(apiVersion).int32(correlationId).string(clientId);
  const header = (isFlexible ? writer.noTags() : writer).toBuffer();
  let length = header.length - int32Bytes;
  for (const piece of pieces) length += piece.length;
  header.writeInt32BE(length);
  return header;
}

/** The size of a request's length field, which does not count itself, and of a response's throttle time. Bytes. */
const int32Bytes = 4;

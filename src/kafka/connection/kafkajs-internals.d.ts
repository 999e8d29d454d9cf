// The part of kafkajs 2.2.4's inside that connections.ts uses. The package has no `exports` map, so deep paths resolve.

declare module 'kafkajs/src/broker/index.js' {
  import type { Logger } from 'kafkajs';
  import type { ConnectionPool } from 'kafkajs/src/cluster/connectionPoolBuilder.js';
  export default class Broker {
    constructor(options: {
      connectionPool: ConnectionPool;
      logger: Logger;
      authenticationTimeout: number;
      allowAutoTopicCreation: boolean;
    });
    /** Connects, asks for the versions the broker speaks, authenticates. */
    connect(): Promise<void>;
    isConnected(): boolean;
  }
}

declare module 'kafkajs/src/cluster/connectionPoolBuilder.js' {
  import type { ISocketFactory, Logger, SASLOptions } from 'kafkajs';
  import type { Socket } from 'node:net';
  import type { ConnectionOptions } from 'node:tls';
  export interface Connection {
    socket: Socket | undefined;
    isConnected(): boolean;
    rejectRequests(error: Error): void;
    readonly clientId: string;
    nextCorrelationId(): number;
    /** Always false without SASL. */
    isAuthenticated(): boolean;
    authenticate(): Promise<void>;
    /** Set while the connection authenticates. */
    readonly authHandlers: object | null;
    /** Given what the socket reads. */
    processData(bytes: Buffer): void;
    readonly requestQueue: {
      /** The requests without a response, by correlation id: anything that can what is used of a map. */
      inflight: object;
      fulfillRequest(response: { size: number; correlationId: number; payload: Buffer }): void;
      /** Holds back requests for so long. Milliseconds. */
      maybeThrottle(milliseconds: number): void;
      push(request: {
        entry: {
          apiKey: number;
          apiName: string;
          apiVersion: number;
          correlationId: number;
          resolve(response: { payload: Buffer }): void;
          reject(error: Error): void;
        };
        expectResponse: boolean;
        requestTimeout: number;
        sendRequest(): void;
      }): void;
    };
  }
  export interface ConnectionPool {
    getConnection(index: number): Promise<Connection>;
    readonly pool: readonly Connection[];
    destroy(): Promise<void>;
  }
  export default function (options: {
    logger: Logger;
    socketFactory: ISocketFactory;
    brokers: string[];
    clientId: string;
    ssl?: ConnectionOptions | boolean;
    sasl?: SASLOptions;
    connectionTimeout: number;
    requestTimeout: number;
    enforceRequestTimeout: boolean;
    reauthenticationThreshold: number;
    maxInFlightRequests: number | null;
  }): { build(to: { host: string; port: number; rack: string | null }): Promise<ConnectionPool> };
}

declare module 'kafkajs/src/loggers/index.js' {
  import type { Logger, logCreator, logLevel } from 'kafkajs';
  const loggers: { createLogger(options: { level: logLevel; logCreator: logCreator }): Logger };
  export default loggers;
}

declare module 'kafkajs/src/network/socketFactory.js' {
  import type { ISocketFactory } from 'kafkajs';
  export default function (): ISocketFactory;
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    /** The requests without a response; a map unless it was replaced. */
    readonly inflight: {
      forEach(
        visit: (request: {
          /** Milliseconds since the epoch. */
          readonly sentAt: number;
          /** Milliseconds. */
          readonly requestTimeout: number;
          timeoutRequest(): void;
        }) => void,
      ): void;
    };
    readonly enforceRequestTimeout: boolean;
    isConnected(): boolean;
    scheduleCheckPendingRequests: (this: RequestQueue) => void;
    /** Called when the connection is open. */
    scheduleRequestTimeoutCheck: (this: RequestQueue) => void;
    /** Called when the connection is closed. */
    destroy: (this: RequestQueue) => void;
  }
}

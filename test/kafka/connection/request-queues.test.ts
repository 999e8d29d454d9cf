import { expect } from 'chai';
import { describe, it } from 'mocha';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { lateResponsesMilliseconds } from '../../../src/kafka/connection/request-queues.ts';

/** What kafkajs's own class takes and has, beyond what the service uses of it. */
interface Queue {
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
  push(request: object): void;
}

const QueueOfKafkajs = RequestQueue as unknown as new (options: object) => Queue;

describe('requests without a response', () => {
  const timeoutMilliseconds = 100;

  function queueOf(enforceRequestTimeout = true, isConnected = (): boolean => true): Queue {
    return new QueueOfKafkajs({
      maxInFlightRequests: null,
      requestTimeout: timeoutMilliseconds,
      enforceRequestTimeout,
      isConnected,
      clientId: 'test',
      broker: 'none',
      logger: { debug: () => undefined, error: () => undefined },
    });
  }

  /** Sends a request that gets no response. @returns how it failed, and after how many milliseconds */
  async function request(queue: Queue): Promise<[error: string, milliseconds: number]> {
    const begin = performance.now();
    const failure = await new Promise<unknown>((_resolve, reject) => {
      const entry = { apiKey: 0, apiName: 'Test', apiVersion: 0, correlationId: 1, resolve: () => undefined, reject };
      queue.push({ entry, expectResponse: true, requestTimeout: timeoutMilliseconds, sendRequest: () => undefined });
    }).catch((error: unknown) => error);
    return [String(failure), performance.now() - begin];
  }

  it('fail after their timeout, on each connection that is open', async () => {
    const queues = [queueOf(), queueOf()];
    for (const queue of queues) queue.scheduleRequestTimeoutCheck();
    const failures = await Promise.all(queues.map(request));
    for (const [error, milliseconds] of failures) {
      expect(error).to.contain('timed out');
      expect(milliseconds).to.be.at.least(timeoutMilliseconds);
    }
    for (const queue of queues) queue.destroy();
  });

  it('fail again on a connection that is opened when all others were closed', async () => {
    const [first, second] = [queueOf(), queueOf()];
    first.scheduleRequestTimeoutCheck();
    first.destroy();
    second.scheduleRequestTimeoutCheck();
    expect((await request(second))[0]).to.contain('timed out');
    second.destroy();
  });

  it('wait for as long as their connection is closed, or has no timeouts', async () => {
    const checks: number[] = [];
    const isConnected = (): boolean => checks.push(performance.now()) > 0;
    let lostChecks = 0;
    const isLost = (): boolean => {
      lostChecks += 1;
      return false;
    };
    const [closed, withoutTimeouts, watched] = [queueOf(), queueOf(false), queueOf(true, isConnected)];
    for (const queue of [closed, withoutTimeouts, watched, queueOf(true, isLost)]) queue.scheduleRequestTimeoutCheck();
    closed.destroy();
    let failed = 0;
    for (const queue of [closed, withoutTimeouts]) void request(queue).then(() => (failed += 1));
    await request(watched);
    await new Promise((resolve) => setTimeout(resolve, 2 * lateResponsesMilliseconds));
    expect(failed).to.equal(0);
    expect(lostChecks, 'a lost connection is forgotten').to.equal(1);
    const pauses = checks.slice(1).map((time, index) => time - (checks[index] ?? 0));
    expect(Math.min(...pauses), 'one timer checks all connections').to.be.at.least(lateResponsesMilliseconds - 1);
    watched.destroy();
  });
});

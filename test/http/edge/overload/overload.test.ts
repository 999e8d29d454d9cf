import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLendstreamError } from '../../../../src/errors.ts';
import { createLoadShedding, shedWorkOf } from '../../../../src/http/access/limits/load-shedding.ts';
import { operations } from '../../../../src/http/access/operation-permissions.ts';
import { bodyBudgetDefault } from '../../../../src/http/edge/bodies-in-flight.ts';
import { measureEventLoopDelay } from '../../../../src/http/edge/overload/event-loop-delay.ts';
import {
  Overload,
  overloadThresholds,
  overloadWarningPauseMilliseconds,
  overloadWindowMilliseconds,
  shedWorkNames,
} from '../../../../src/http/edge/overload/overload.ts';
import type { Logger } from '../../../../src/logger.ts';
import { createMetrics } from '../../../../src/metrics.ts';
import { packageRoot } from '../../../../src/package-root.ts';
import { call } from '../../../support/http/client.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { checkedLogger } from '../../../support/logs/secrets-in-logs.ts';

const mebibyte = 1024 * 1024;

/** The thresholds in docs/operating.md, as numbers. */
const documented = {
  streams: { delayMilliseconds: 500, bodyBytes: 192 * mebibyte },
  publishing: { delayMilliseconds: 1_000, bodyBytes: Infinity },
};

class Measured {
  readonly clock = new SimulatedClock();
  readonly metrics = createMetrics();
  readonly lines: object[] = [];
  readonly bodies = { bytes: 0 };
  isClosed = false;
  delayMilliseconds = 0;
  readonly #logger: Logger = checkedLogger({ warn: (facts, message) => this.lines.push({ ...facts, message }) });
  readonly overload = new Overload({
    delay: { read: () => this.delayMilliseconds, close: () => (this.isClosed = true) },
    bodies: this.bodies,
    clock: this.clock,
    metrics: this.metrics,
    logger: this.#logger,
  });

  /** One window after another with these delays. Milliseconds. */
  async windows(...delays: readonly number[]): Promise<void> {
    for (const delay of delays) {
      this.delayMilliseconds = delay;
      await this.clock.turn(overloadWindowMilliseconds);
    }
  }

  /** What is refused. */
  refused(): string[] {
    return shedWorkNames.filter((work) => {
      try {
        this.overload.admit(work);
        return false;
      } catch (error) {
        if (!isLendstreamError(error, 'OVERLOADED')) throw error;
        return true;
      }
    });
  }

  async counts(): Promise<Record<string, number>> {
    const { values } = await this.metrics.shedRequests.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.work), value]));
  }
}

describe('an overloaded process', () => {
  it('has the thresholds of the documents, lower ones for streams', () => {
    expect(overloadThresholds).to.deep.equal(documented);
    expect(documented.streams.bodyBytes).to.be.lessThan(bodyBudgetDefault.largeBytesMaximum);
  });

  const rows: [title: string, delays: readonly number[], bytes: number, refused: readonly string[]][] = [
    ['nothing at rest', [0, 0], 0, []],
    ['nothing one millisecond below the first threshold', [499, 499], 0, []],
    ['streams at the first threshold', [500, 500], 0, ['streams']],
    ['streams alone one millisecond below the second threshold', [999, 999], 0, ['streams']],
    ['publishing as well at the second threshold', [1_000, 1_000], 0, ['streams', 'publishing']],
    ['nothing after a single stop, however long', [0, 60_000], 0, []],
    ['nothing after a single stop that is over', [60_000, 0], 0, []],
    ['by the smaller one of the last two windows', [5_000, 600], 0, ['streams']],
    ['nothing one byte below the threshold of bodies', [0, 0], 192 * mebibyte - 1, []],
    ['streams alone at the threshold of bodies', [0, 0], 192 * mebibyte, ['streams']],
    ['streams alone with full bodies, which have a budget', [0, 0], 272 * mebibyte, ['streams']],
  ];
  for (const [title, delays, bytes, refused] of rows) {
    it(`refuses ${title}`, async () => {
      const measured = new Measured();
      await measured.windows(...delays);
      measured.bodies.bytes = bytes;
      expect(measured.overload.isOverloaded).to.equal(refused.length > 0);
      expect(measured.refused()).to.deep.equal(refused);
    });
  }

  it('takes work again one window after the delay has ended', async () => {
    const measured = new Measured();
    await measured.windows(2_000, 2_000);
    expect(measured.refused()).to.deep.equal(['streams', 'publishing']);
    await measured.windows(0);
    expect(measured.refused()).to.deep.equal([]);
  });

  it('counts and logs what it refuses, a line a minute at most', async () => {
    const measured = new Measured();
    expect(await measured.counts()).to.deep.equal({ streams: 0, publishing: 0 });
    await measured.windows(1_234, 1_500);
    measured.refused();
    measured.refused();
    expect(await measured.counts()).to.deep.equal({ streams: 2, publishing: 2 });
    expect((await measured.metrics.eventLoopDelay.get()).values[0]?.value).to.equal(1.234);
    const message = 'Refusing new work: the process is overloaded';
    const line = { work: 'streams', refused: 1, delayMilliseconds: 1_234, bytes: 0, message };
    expect(measured.lines).to.deep.equal([line]);
    await measured.windows(...Array<number>(overloadWarningPauseMilliseconds / overloadWindowMilliseconds).fill(1_234));
    measured.refused();
    expect(measured.lines.slice(1)).to.deep.equal([{ ...line, refused: 4 }]);
  });

  it('stops measuring when it is closed', () => {
    const measured = new Measured();
    measured.overload.close();
    expect([measured.isClosed, measured.clock.nextDeadline()]).to.deep.equal([true, Infinity]);
  });
});

describe('what an overloaded process refuses', () => {
  it('are all operations whose response is a stream, and all that publish', () => {
    const description = JSON.parse(readFileSync(join(packageRoot, 'schemas/openapi.json'), 'utf8')) as {
      readonly paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, unknown> }>>;
    };
    const streams = Object.values(description.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, responses }) =>
        JSON.stringify(responses?.['200'] ?? {}).includes('application/x-json-stream') ? [String(operationId)] : [],
      ),
    );
    const refused = (work: string): string[] =>
      operations.filter((operation) => shedWorkOf(operation) === work).map(({ id }) => id);
    expect(refused('streams')).to.have.members(streams);
    expect(refused('publishing')).to.include.members(['publishEvents', 'deleteEvents', 'createLoan', 'repayLoan']);
    expect(refused('publishing')).to.not.include('previewSchedule');
  });

  const rows: [method: string, path: string, status: number][] = [
    ['GET', '/subscriptions/x/events', 503],
    ['POST', '/subscriptions/x/events', 503],
    ['GET', '/api/v1/subscriptions/x/events', 503],
    ['GET', '/api/subscriptions/x/events', 503],
    ['GET', '/event-types/x/events', 503],
    ['POST', '/event-types/x/events', 503],
    ['POST', '/event-types/x/deleted-events', 503],
    ['POST', '/loans/x/repayment-transactions', 503],
    ['POST', '/api/loans', 503],
    ['POST', '/subscriptions/x/cursors', 200],
    ['POST', '/api/v1/subscriptions/x/cursors', 200],
    ['GET', '/health', 200],
    ['GET', '/ready', 200],
    ['GET', '/metrics', 200],
    ['GET', '/loans/x', 200],
    ['POST', '/subscriptions', 200],
    ['OPTIONS', '/event-types/x/events', 200],
    ['GET', '/event-types/%FF/events', 200],
    ['GET', '/nothing', 200],
  ];
  it('leaves commits, probes and reads alone', async () => {
    const measured = new Measured();
    await measured.windows(2_000, 2_000);
    const application = express();
    application.use(createLoadShedding(measured.overload));
    application.use((_request, response) => void response.json({}));
    const respond: express.ErrorRequestHandler = (error, _request, response, _next) =>
      void response.status(isLendstreamError(error) ? error.status : 500).json({});
    application.use(respond);
    const server = createServer(application).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answers = [];
      for (const [method, path] of rows) answers.push([method, path, (await call(`${url}${path}`, method)).status]);
      expect(answers).to.deep.equal(rows);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('the delay of the event loop', () => {
  it('is how long it is blocked, and less again when it is not', async function () {
    this.timeout(60_000);
    const delay = measureEventLoopDelay(overloadWindowMilliseconds);
    const turns = new Int32Array(new SharedArrayBuffer(4));
    const block = async (): Promise<void> => {
      for (let turn = 0; turn < 4; turn += 1) {
        Atomics.wait(turns, 0, 0, 300);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    /** Reads in windows at rest until one is short enough: other programs may keep the processor for a while. */
    const untilBelow = async (milliseconds: number): Promise<void> => {
      do await new Promise((resolve) => setTimeout(resolve, overloadWindowMilliseconds));
      while (delay.read() >= milliseconds);
    };
    try {
      await untilBelow(50);
      await block();
      expect(delay.read(), 'while it was not asked').to.be.at.least(100);
      await block();
      expect(delay.read(), 'while it was asked').to.be.at.least(100);
      // Twice, since it is asked the first time, and no more the second time.
      await untilBelow(50);
      await untilBelow(50);
    } finally {
      delay.close();
    }
  });
});

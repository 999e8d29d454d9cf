import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { NodeReporter } from '../../../src/broker/overview/node-reporter.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the reports of a process about itself', () => {
  const leaseMilliseconds = 9_000;
  let store: SubscriptionStore;
  let clock: SimulatedClock;
  let reports: number;
  /** What a call to the store waits for. */
  let delay: Promise<void>;
  let isOutOfReach: boolean;
  let lastReport: Promise<void>;
  let streams: number;
  let reporter: NodeReporter;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    clock = new SimulatedClock();
    reports = 0;
    delay = Promise.resolve();
    isOutOfReach = false;
    lastReport = Promise.resolve();
    streams = 1;
    const coordination = overriding<Coordination>(store.coordination, {
      reportNode: (report) => {
        reports += 1;
        const send = async (): Promise<void> => {
          await delay;
          if (isOutOfReach) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
          await store.coordination.reportNode(report);
        };
        lastReport = send();
        return lastReport;
      },
    });
    reporter = new NodeReporter({
      coordination,
      facts: { nodeId: 'node', host: 'machine', version: '1.0.0', roles: ['serve'], startedAt: 1 },
      state: () => ({
        isReady: true,
        loanPartitions: 0,
        subscriptionStreams: streams,
        streamPartitions: 0,
        eventTypeStreams: 0,
      }),
      leaseMilliseconds,
      clock,
      logger: silentLogger,
    });
  });

  afterEach(async () => {
    await reporter.stop();
    await store.close();
  });

  async function turn(milliseconds: number): Promise<void> {
    await clock.turn(milliseconds);
    await lastReport.catch(() => undefined);
    await clock.turn(0);
  }

  const reported = async () => (await store.coordination.reportedNodes()).map(({ report }) => report);

  it('come at once, and three times in the time of a lease, with what it holds then', async () => {
    reporter.start('http://127.0.0.1:1');
    await turn(0);
    expect(await reported()).to.deep.include({
      nodeId: 'node',
      host: 'machine',
      address: 'http://127.0.0.1:1',
      version: '1.0.0',
      roles: ['serve'],
      startedAt: 1,
      isReady: true,
      loanPartitions: 0,
      subscriptionStreams: 1,
      streamPartitions: 0,
      eventTypeStreams: 0,
    });
    streams = 4;
    await turn(2_999);
    expect(reports).to.equal(1);
    await turn(1);
    expect(reports).to.equal(2);
    expect((await reported())[0]?.subscriptionStreams).to.equal(4);
    await turn(3_000);
    await turn(3_000);
    expect(reports).to.equal(4);
  });

  it('come again at a change that people wait for, after the one that is under way', async () => {
    reporter.reportChange();
    await turn(0);
    expect(reports, 'none before the start').to.equal(0);
    let respond = (): void => {};
    delay = new Promise((resolve) => (respond = resolve));
    reporter.start('http://127.0.0.1:1');
    streams = 4;
    reporter.reportChange();
    await clock.turn(0);
    expect(reports, 'one at a time').to.equal(1);
    respond();
    await turn(0);
    await turn(0);
    expect(reports).to.equal(2);
    expect((await reported())[0]?.subscriptionStreams).to.equal(4);
  });

  it('go on after the store could not be reached, and never pile up', async () => {
    isOutOfReach = true;
    reporter.start('http://127.0.0.1:1');
    await turn(0);
    expect(await reported()).to.deep.equal([]);
    isOutOfReach = false;
    let respond = (): void => {};
    delay = new Promise((resolve) => (respond = resolve));
    await clock.turn(3_000);
    await clock.turn(9_000);
    expect(reports, 'one waits for the store').to.equal(2);
    respond();
    await turn(0);
    await turn(3_000);
    expect(reports).to.equal(3);
    expect(await reported()).to.have.length(1);
  });

  it('end with a withdrawal, also while one is under way', async () => {
    reporter.start('http://127.0.0.1:1');
    await turn(0);
    let respond = (): void => {};
    delay = new Promise((resolve) => (respond = resolve));
    await clock.turn(3_000);
    const stopped = reporter.stop();
    respond();
    await stopped;
    expect(await reported()).to.deep.equal([]);
    await turn(30_000);
    expect(reports).to.equal(2);
    reporter.start('http://127.0.0.1:1');
    await turn(3_000);
    expect(reports, 'it does not begin again').to.equal(2);
  });

  it('keep a process that stops waiting for two seconds at most', async () => {
    delay = new Promise(() => {});
    reporter.start('http://127.0.0.1:1');
    let hasStopped = false;
    const stopped = reporter.stop().then(() => (hasStopped = true));
    await clock.turn(1_999);
    expect(hasStopped).to.equal(false);
    await clock.turn(1);
    await stopped;
  });
});

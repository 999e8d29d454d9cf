import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { Health } from '../../../src/health.ts';
import { silentLogger } from '../../../src/logger.ts';
import { codeOf } from '../../support/log-reading.ts';
import { eventually } from '../../support/eventually.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the lease of a process', () => {
  let store: SubscriptionStore;
  let time: number;
  let isOutOfReach: boolean;
  let renewals: number;
  /** How long the store takes to answer. Milliseconds of `time`. */
  let replyDelayMilliseconds: number;
  let leases: NodeLease[];
  let health: Health;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    time = 0;
    isOutOfReach = false;
    renewals = 0;
    replyDelayMilliseconds = 0;
    leases = [];
  });
  afterEach(async () => {
    for (const lease of leases) lease.stop();
    await store.close();
  });

  /** Its timers are far away unless the lease is short: the tests renew it themselves. */
  function newLease(
    leaseMilliseconds = 10_000,
    clock: Clock = { ...systemClock, now: () => 0, monotonic: () => time },
  ): NodeLease {
    const coordination = overriding<Coordination>(store.coordination, {
      renewLease: async (nodeId, milliseconds) => {
        renewals += 1;
        time += replyDelayMilliseconds;
        if (isOutOfReach) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
        await store.coordination.renewLease(nodeId, milliseconds);
      },
    });
    health = new Health(clock);
    const part = health.part('coordination');
    const options = { coordination, nodeId: 'node', leaseMilliseconds, clock, logger: silentLogger, health: part };
    const lease = new NodeLease(options);
    leases.push(lease);
    return lease;
  }

  it('is held from when it was asked for, less a fifth', async () => {
    replyDelayMilliseconds = 3_000;
    const lease = newLease();
    expect(lease.isValid(time)).to.equal(false);
    await lease.start();
    expect([time, lease.epoch]).to.deep.equal([3_000, 1]);
    expect([lease.isValid(7_999), lease.isValid(8_000)]).to.deep.equal([true, false]);
  });

  it('is not ready from the tenth second on in which the store has not answered, and is with its next answer', async () => {
    const lease = newLease();
    await lease.start();
    isOutOfReach = true;
    time = 9_999;
    await codeOf(lease.renew());
    expect(health.notReadyReasons()).to.deep.equal([]);
    time = 10_000;
    await codeOf(lease.renew());
    expect(health.notReadyReasons()).to.deep.equal([
      'The coordination store has not answered for 10 seconds: Out of reach.',
    ]);
    isOutOfReach = false;
    await lease.renew();
    expect(health.notReadyReasons()).to.deep.equal([]);
  });

  it('goes on in the same tenure as long as it is renewed in time', async () => {
    const lease = newLease();
    await lease.start();
    for (time = 3_000; time < 30_000; time += 3_000) {
      expect(lease.isValid(time)).to.equal(true);
      await lease.renew();
    }
    expect(lease.epoch).to.equal(1);
  });

  it('is not held after a pause, and renewed it begins a new tenure', async () => {
    const lease = newLease();
    await lease.start();
    time = 60_000;
    expect(lease.isValid(time)).to.equal(false);
    await lease.renew();
    expect([lease.isValid(time), lease.epoch]).to.deep.equal([true, 2]);
  });

  it('is not held by an answer that came too late', async () => {
    const lease = newLease();
    await lease.start();
    replyDelayMilliseconds = 60_000;
    await lease.renew();
    expect(lease.isValid(time)).to.equal(false);
    replyDelayMilliseconds = 0;
    await lease.renew();
    expect([lease.isValid(time), lease.epoch]).to.deep.equal([true, 3]);
  });

  it('is held while the store is out of reach, for nobody else can take over; then a new tenure begins', async () => {
    const lease = newLease();
    await lease.start();
    isOutOfReach = true;
    for (let round = 0; round < 10; round += 1) {
      time += 4_000;
      expect(lease.isValid(time)).to.equal(true);
      expect(await codeOf(lease.renew())).to.equal('COORDINATION_UNAVAILABLE');
    }
    expect(lease.epoch).to.equal(1);
    isOutOfReach = false;
    await lease.renew();
    expect([lease.isValid(time), lease.epoch]).to.deep.equal([true, 2]);
  });

  it('is not held after a pause, however often the store is then found out of reach', async () => {
    const lease = newLease();
    await lease.start();
    isOutOfReach = true;
    time = 4_000;
    await codeOf(lease.renew());
    time = 60_000;
    for (let round = 0; round < 3; round += 1) {
      expect(await codeOf(lease.renew())).to.equal('COORDINATION_UNAVAILABLE');
      expect(lease.isValid(time)).to.equal(false);
      time += 1_000;
    }
    isOutOfReach = false;
    await lease.renew();
    expect([lease.isValid(time), lease.epoch]).to.deep.equal([true, 2]);
  });

  it('is asked for once, however many ask at the same moment', async () => {
    const lease = newLease();
    await Promise.all([lease.start(), lease.renew(), lease.renew()]);
    expect(renewals).to.equal(1);
  });

  it('is not taken when the store cannot be reached at the start', async () => {
    isOutOfReach = true;
    expect(await codeOf(newLease().start())).to.equal('COORDINATION_UNAVAILABLE');
  });

  it('is renewed by itself, also after failures, until it is stopped', async () => {
    const lease = newLease(150, systemClock);
    await lease.start();
    await eventually(() => renewals >= 4);
    expect([lease.isValid(performance.now()), lease.epoch]).to.deep.equal([true, 1]);
    isOutOfReach = true;
    await eventually(() => renewals >= 8);
    isOutOfReach = false;
    await eventually(() => lease.epoch === 2);
    lease.stop();
    const before = renewals;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect([renewals, lease.isValid(performance.now())]).to.deep.equal([before, false]);
  });

  it('counts a store that does not answer as out of reach', async () => {
    const silent = { renewLease: () => new Promise<void>(() => {}) };
    const options = { nodeId: 'node', leaseMilliseconds: 60, clock: systemClock, logger: silentLogger };
    const lease = new NodeLease({ ...options, coordination: silent });
    leases.push(lease);
    expect(await codeOf(lease.start())).to.equal('COORDINATION_UNAVAILABLE');
  });

  it('is known to have ended by a process that was stopped and goes on, before it does anything else', async function () {
    this.timeout(20_000);
    const program = fileURLToPath(new URL('../../support/processes/lease-process.js', import.meta.url));
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const seen: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => seen.push(line));
    const next = async (): Promise<void> => {
      const before = seen.length;
      await eventually(() => seen.length > before, 10_000);
    };
    try {
      await next();
      child.kill('SIGSTOP');
      // What was on its way before the process stopped.
      await new Promise((resolve) => setTimeout(resolve, 700));
      const before = seen.length;
      expect(seen.every((line) => line === 'held 1')).to.equal(true);
      child.kill('SIGCONT');
      await eventually(() => seen.slice(before).includes('held 2'), 10_000);
      expect(seen.slice(before)).not.to.include('held 1');
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
  });
});

import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { Health } from '../../../src/health.ts';
import { silentLogger } from '../../../src/logger.ts';
import { codeOf } from '../../support/log-reading.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the lease of a process', () => {
  let store: SubscriptionStore;
  let clock: SimulatedClock;
  let isOutOfReach: boolean;
  let renewals: number;
  /** The renewal that the store has not responded to yet, or the last one. */
  let renewal: Promise<void>;
  /** How long the process is suspended while the store responds. Milliseconds. */
  let pauseMilliseconds: number;
  let lease: NodeLease;
  let health: Health;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    clock = new SimulatedClock();
    isOutOfReach = false;
    renewals = 0;
    renewal = Promise.resolve();
    pauseMilliseconds = 0;
    const coordination = overriding<Coordination>(store.coordination, {
      renewLease: async (nodeId, milliseconds) => {
        renewals += 1;
        clock.jump(pauseMilliseconds);
        if (isOutOfReach) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
        renewal = store.coordination.renewLease(nodeId, milliseconds);
        await renewal;
      },
    });
    health = new Health(clock);
    lease = new NodeLease({
      coordination,
      nodeId: 'node',
      leaseMilliseconds: 9_000,
      clock,
      logger: silentLogger,
      health: health.part('coordination'),
    });
  });
  afterEach(async () => {
    lease.stop();
    await store.close();
  });

  /** Lets time pass, and lets a remote store respond to the renewal that is due in it. */
  async function turn(milliseconds: number): Promise<void> {
    await clock.turn(milliseconds);
    await renewal;
    await clock.turn(0);
  }

  const state = () => [lease.isValid(clock.monotonic()), lease.epoch];

  it('is valid from the time of the request for four fifths of its duration', async () => {
    pauseMilliseconds = 3_000;
    expect(lease.isValid(clock.monotonic())).to.equal(false);
    await lease.start();
    expect([clock.monotonic(), lease.epoch]).to.deep.equal([3_000, 1]);
    expect([lease.isValid(7_199), lease.isValid(7_200)]).to.deep.equal([true, false]);
  });

  it('is not ready from the tenth second without a response of the store, and is ready with its next response', async () => {
    await lease.start();
    isOutOfReach = true;
    clock.jump(9_999);
    await codeOf(lease.renew());
    expect(health.notReadyReasons()).to.deep.equal([]);
    clock.jump(1);
    await codeOf(lease.renew());
    expect(health.notReadyReasons()).to.deep.equal([
      'The coordination store has not responded for 10 seconds: Out of reach.',
    ]);
    isOutOfReach = false;
    await lease.renew();
    expect(health.notReadyReasons()).to.deep.equal([]);
  });

  it('is renewed automatically after every third of its duration, in the same epoch', async () => {
    await lease.start();
    for (let second = 1; second <= 60; second += 1) {
      await turn(1_000);
      expect(state()).to.deep.equal([true, 1]);
      expect(renewals).to.equal(1 + Math.floor(second / 3));
    }
  });

  it('is not valid after a pause, and its renewal begins a new epoch', async () => {
    await lease.start();
    clock.jump(60_000);
    expect(state()).to.deep.equal([false, 1]);
    await turn(0);
    expect(state()).to.deep.equal([true, 2]);
  });

  it('is not valid when the process handled the response too late', async () => {
    await lease.start();
    pauseMilliseconds = 7_200;
    await lease.renew();
    expect(state()).to.deep.equal([false, 2]);
    pauseMilliseconds = 7_199;
    await lease.renew();
    expect(state()).to.deep.equal([true, 3]);
  });

  it('stays valid while the store is unreachable, because no other process can take over, and then begins a new epoch', async () => {
    await lease.start();
    isOutOfReach = true;
    for (let second = 1; second <= 60; second += 1) {
      await turn(1_000);
      expect(state()).to.deep.equal([true, 1]);
    }
    isOutOfReach = false;
    await turn(900);
    expect(state()).to.deep.equal([true, 2]);
  });

  it('stays invalid after a pause while the store is unreachable', async () => {
    await lease.start();
    isOutOfReach = true;
    await turn(4_000);
    clock.jump(60_000);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await turn(900);
      expect(state()).to.deep.equal([false, 1]);
    }
    isOutOfReach = false;
    await turn(900);
    expect(state()).to.deep.equal([true, 2]);
  });

  it('sends one request for any number of simultaneous calls', async () => {
    await Promise.all([lease.start(), lease.renew(), lease.renew()]);
    expect(renewals).to.equal(1);
  });

  it('fails to start when the store is unreachable', async () => {
    isOutOfReach = true;
    expect(await codeOf(lease.start())).to.equal('COORDINATION_UNAVAILABLE');
  });

  it('is retried after a tenth of its duration when a renewal fails', async () => {
    await lease.start();
    isOutOfReach = true;
    await turn(3_000);
    expect(renewals).to.equal(2);
    await turn(899);
    expect(renewals).to.equal(2);
    await turn(1);
    expect(renewals).to.equal(3);
  });

  it('expires when it is stopped', async () => {
    await lease.start();
    lease.stop();
    await turn(7_199);
    expect(state()).to.deep.equal([true, 1]);
    await turn(1);
    expect(state()).to.deep.equal([false, 1]);
    expect(renewals).to.equal(1);
  });

  it('treats a store that does not respond for a third of its duration as unreachable', async () => {
    const silent = { renewLease: () => new Promise<void>(() => {}) };
    const own = { nodeId: 'node', leaseMilliseconds: 9_000, clock, logger: silentLogger };
    let code: unknown;
    const other = new NodeLease({ ...own, coordination: silent });
    void codeOf(other.start()).then((failure) => (code = failure));
    await turn(2_999);
    expect(code).to.equal(undefined);
    await turn(1);
    expect(code).to.equal('COORDINATION_UNAVAILABLE');
    other.stop();
  });

  it('is invalid in a process that was suspended and resumes, before it does anything else', async function () {
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
      // Output that was on its way before the process was suspended.
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

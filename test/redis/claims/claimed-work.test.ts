import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { doClaimed } from '../../../src/redis/claims/claimed-work.ts';
import { KeySpace } from '../../../src/redis/keys.ts';
import type { RedisCoordination } from '../../../src/redis/coordination.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../../support/processes/redis-server.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { openRedisHarness, type RedisHarness } from '../harness.ts';

const leaseMilliseconds = 20_000;
const renewalMilliseconds = 5_000;
const claim = { name: 'work', leaseMilliseconds };

describe('work that one process at a time does', () => {
  let server: RedisServer;
  let harness: RedisHarness;
  let first: RedisCoordination;
  let second: RedisCoordination;
  /** Of the first process. It renews its claims by it. */
  let clock: SimulatedClock;

  before(async () => {
    server = await startRedisServer();
  });

  after(() => server.stop());

  beforeEach(async () => {
    harness = await openRedisHarness(server.url);
    first = await harness.open();
    second = await harness.open();
    clock = new SimulatedClock();
  });

  afterEach(() => harness.close());

  const claimLeft = (): Promise<number> => harness.client.pttl(new KeySpace(harness.keyPrefix).claim(claim.name));

  const workOfSecond = (): Promise<boolean> => doClaimed(second, new SimulatedClock(), claim, async () => {});

  it('keeps its claim for as long as it takes, and then releases it', async () => {
    let finish = (): void => {};
    const working = doClaimed(first, clock, claim, () => new Promise((resolve) => (finish = resolve)));
    await eventually(async () => (await claimLeft()) > 0);
    for (let renewals = 0; renewals < 5; renewals += 1) {
      await harness.elapse(renewalMilliseconds);
      await clock.turn(renewalMilliseconds);
      await eventually(async () => (await claimLeft()) > leaseMilliseconds - renewalMilliseconds);
      expect(await workOfSecond(), `after ${renewals + 1} renewals`).to.equal(false);
    }
    finish();
    expect(await working).to.equal(true);
    expect(await workOfSecond()).to.equal(true);
  });

  it('loses its claim when it renews nothing for the whole lease, and then leaves it to the other process', async () => {
    let finish = (): void => {};
    const working = doClaimed(first, clock, claim, () => new Promise((resolve) => (finish = resolve)));
    await eventually(async () => (await claimLeft()) > 0);
    await harness.elapse(leaseMilliseconds - renewalMilliseconds);
    expect(await workOfSecond()).to.equal(false);
    await harness.elapse(renewalMilliseconds);
    expect(await second.claim(claim.name, leaseMilliseconds)).to.equal(true);
    await harness.elapse(renewalMilliseconds);
    await clock.turn(renewalMilliseconds);
    finish();
    expect(await working, 'it did its work').to.equal(true);
    expect(await claimLeft(), 'the claim of the other').to.be.within(1, leaseMilliseconds - renewalMilliseconds);
  });

  it('releases its claim when it fails', async () => {
    const failing = doClaimed(first, clock, claim, () => Promise.reject(new Error('no')));
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: no');
    expect(await workOfSecond()).to.equal(true);
  });
});

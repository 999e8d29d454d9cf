import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/clock.ts';
import { publishedId, type IdsToClaim } from '../../../src/ports/published-ids.ts';
import { silentLogger } from '../../../src/logger.ts';
import { RedisPublishedIds } from '../../../src/redis/published-ids/published-ids.ts';
import { describePublishedIds } from '../../contracts/published-ids.contract.ts';
import { codeOf } from '../../support/log-reading.ts';
import { startRedisServer, type RedisServer } from '../../support/processes/redis-server.ts';
import { openRedisHarness, type RedisHarness } from '../harness.ts';

/** Short enough for a test to wait for it. */
const claimMilliseconds = 3_000;

describePublishedIds('Redis', async () => {
  const server = await startRedisServer();
  const harness = await openRedisHarness(server.url);
  return {
    log: harness.log,
    isShared: true,
    open: async (options) => (await harness.open()).publishedIds({ claimMilliseconds, idsMaximum: 1_000, ...options }),
    lose: async () => {
      await harness.client.flushall();
    },
    cleanup: async () => {
      await harness.close();
      await server.stop();
    },
  };
});

const nothing: ReadonlySet<string> = new Set();

describe('published ids in Redis', () => {
  let server: RedisServer;
  let harness: RedisHarness;
  let topic: string;
  let ids: RedisPublishedIds;

  before(async () => {
    server = await startRedisServer();
    harness = await openRedisHarness(server.url);
  });

  after(async () => {
    await harness.close();
    await server.stop();
  });

  beforeEach(async () => {
    topic = `orders-${randomUUID()}`;
    const retention = { cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 } as const;
    await harness.log.createTopic({ name: topic, partitionCount: 2, ...retention });
    ids = await open();
  });

  async function open(milliseconds = claimMilliseconds): Promise<RedisPublishedIds> {
    return (await harness.open()).publishedIds({ claimMilliseconds: milliseconds, idsMaximum: 1_000 });
  }

  function request(eids: readonly string[]): IdsToClaim {
    const partitions = eids.map(() => 1);
    const window = { claimedSince: 'then', windowMilliseconds: 60_000 };
    return { topic, ...window, ids: eids.map(publishedId), partitions };
  }

  async function append(eid: string): Promise<void> {
    const value = Buffer.from(JSON.stringify({ metadata: { eid } }));
    await harness.log.append([{ topic, partition: 1, records: [{ key: null, value }] }]);
  }

  async function key(): Promise<string> {
    const [found = ''] = await harness.client.keys(`*${topic}*:ids`);
    return found;
  }

  it('answers at once for an event whose process died after it was stored', async () => {
    const eid = randomUUID();
    await (await ids.claim(request([randomUUID()]))).settle(nothing, nothing);
    await (await open(60_000)).claim(request([eid])).then(() => append(eid));
    const begin = systemClock.monotonic();
    const patient = await open(60_000);
    const { storedIn } = await patient.claim(request([eid]));
    expect([...storedIn.values()]).to.deep.equal([1]);
    expect(systemClock.monotonic() - begin).to.be.lessThan(5_000);
  });

  it('finds an event that seems older than its claim, because a clock was set back meanwhile', async () => {
    const eid = randomUUID();
    await (await ids.claim(request([randomUUID()]))).settle(nothing, nothing);
    const ahead = { ...systemClock, now: () => systemClock.now() + 8_000 };
    const options = { claimMilliseconds: 60_000, idsMaximum: 1_000, clock: ahead };
    const [first, second] = [await harness.open(), await harness.open()].map((each) => each.publishedIds(options));
    await first?.claim(request([eid]));
    await append(eid);
    expect([...((await second?.claim(request([eid])))?.storedIn.values() ?? [])]).to.deep.equal([1]);
  });

  it('are added to Redis five hundred at a time', async () => {
    const many = Array.from({ length: 1_001 }, () => randomUUID());
    const stored = many.map((eid) => ({ key: null, value: Buffer.from(JSON.stringify({ metadata: { eid } })) }));
    await harness.log.append([{ topic, partition: 1, records: stored }]);
    const added: number[] = [];
    const answers: Record<string, unknown[]> = { begin: ['OK', '60000'], add: ['OK'], finish: ['OK'] };
    let isComplete = false;
    const local = new RedisPublishedIds({
      calls: {
        call: (name, _key, values) => {
          if (name !== 'published-ids/refill') return Promise.resolve([isComplete ? 'OK' : 'INCOMPLETE']);
          const [, , step, , ...pairs] = values;
          if (step === 'add') added.push(pairs.length / 2);
          isComplete ||= step === 'finish';
          return Promise.resolve(answers[String(step)] ?? []);
        },
        claim: () => Promise.resolve(true),
        renewClaim: () => Promise.resolve(true),
        releaseClaim: () => Promise.resolve(),
      },
      log: harness.log,
      clock: systemClock,
      logger: silentLogger,
      idsMaximum: 10_000,
      claimMilliseconds,
    });
    await local.claim(request([randomUUID()]));
    expect(added).to.deep.equal([500, 500, 1]);
  });

  it('waits for the claim of a process that died before it was stored, and not a moment less', async () => {
    const eid = randomUUID();
    // Nothing has been claimed before, so this one needs no time.
    await (await ids.claim(request([randomUUID()]))).settle(nothing, nothing);
    const begin = systemClock.monotonic();
    await ids.claim(request([eid]));
    const later = await (await open()).claim(request([eid]));
    expect(later.storedIn.size).to.equal(0);
    expect(systemClock.monotonic() - begin).to.be.within(claimMilliseconds, claimMilliseconds + 20_000);
  });

  it('lets no append begin when a third of the time of its claim is over', async () => {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const slow = (await harness.open()).publishedIds({ claimMilliseconds, idsMaximum: 1_000, clock });
    const claim = await slow.claim(request([randomUUID()]));
    now = claimMilliseconds / 3 - 1;
    expect(claim.isCurrent()).to.equal(true);
    now += 1;
    expect(claim.isCurrent()).to.equal(false);
  });

  it('claims nothing after a loss before the log has what was claimed before it', async () => {
    const eid = randomUUID();
    const claim = await ids.claim(request([eid]));
    await harness.client.flushall();
    const repeated = (await open()).claim(request([eid]));
    // The append that was under way arrives after the loss.
    await systemClock.sleep(claimMilliseconds / 2);
    await append(eid);
    expect((await repeated).storedIn.size).to.equal(1);
    await claim.settle(new Set([publishedId(eid)]), nothing);
  });

  it('reads the log again when the ids are lost while they are read', async () => {
    const eid = randomUUID();
    await append(eid);
    await harness.client.flushall();
    const other = await open();
    const found = other.claim(request([eid]));
    await systemClock.sleep(claimMilliseconds / 2);
    await harness.client.flushall();
    expect((await found).storedIn.size).to.equal(1);
  });

  it('reads the log again when Redis has no more than its ids lost', async () => {
    const eid = randomUUID();
    await (await ids.claim(request([eid]))).settle(nothing, nothing);
    await append(eid);
    await harness.client.del(await key());
    expect((await ids.claim(request([eid]))).storedIn.size).to.equal(1);
  });

  it('settles nothing for those who have claimed an id since', async () => {
    const eid = randomUUID();
    const first = await ids.claim(request([eid]));
    const second = await ids.claim(request([eid]));
    await first.settle(nothing, nothing);
    await second.settle(new Set([publishedId(eid)]), nothing);
    expect((await ids.claim(request([eid]))).storedIn.size).to.equal(1);
  });

  it('keeps about as many ids as its window has, in a key that ends by itself', async () => {
    const passing = (await harness.open()).publishedIds({
      claimMilliseconds,
      idsMaximum: 1_000,
      clock: { ...systemClock, now: () => now },
    });
    let now = Date.now();
    for (let round = 0; round < 20; round += 1) {
      const eids = Array.from({ length: 100 }, () => randomUUID());
      const claim = await passing.claim(request(eids));
      await claim.settle(new Set(eids.map(publishedId)), nothing);
      now += 20_000;
    }
    expect(await harness.client.zcard(await key())).to.be.within(300, 401);
    expect(await harness.client.pttl(await key())).to.be.within(60_000, 700_000);
  });

  it('ends its waits when it is closed', async () => {
    const eid = randomUUID();
    await ids.claim(request([eid]));
    const waiting = codeOf(ids.claim(request([eid])));
    ids.close();
    expect(await waiting).to.equal('COORDINATION_UNAVAILABLE');
  });
});

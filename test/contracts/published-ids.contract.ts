import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { claimMilliseconds, publishedId, type IdClaim, type PublishedIds } from '../../src/ports/published-ids.ts';
import { codeOf } from '../support/log-reading.ts';

export interface PublishedIdsOptions {
  readonly clock: Clock;
  readonly idsMaximum?: number;
}

/** The backend under test. */
export interface PublishedIdsUnderTest {
  readonly log: EventLog;
  /** Whether several processes may use it at the same time. */
  readonly isShared: boolean;
  /** The ids as a process has them that has just started, on the same log. */
  open(options: PublishedIdsOptions): Promise<PublishedIds>;
  /** Loses everything that is not in the log. */
  lose(): Promise<void>;
  cleanup(): Promise<void>;
}

const windowMilliseconds = 60_000;
const claimedSince = '2026-01-01T00:00:00Z';

/** The time of day as a test sets it; timers run. */
class SetClock implements Clock {
  shift = 0;
  now = (): number => Date.now() + this.shift;
  monotonic = (): number => systemClock.monotonic();
  sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> => systemClock.sleep(milliseconds, signal);
  at: Clock['at'] = (deadline, callback) => systemClock.at(deadline, callback);
}

const none: ReadonlySet<string> = new Set();

/** Every rule of the {@link PublishedIds} port. */
export function describePublishedIds(name: string, open: () => Promise<PublishedIdsUnderTest>): void {
  describe(`${name}, as the ids of published events`, () => {
    let subject: PublishedIdsUnderTest;
    let ids: PublishedIds;
    let clock: SetClock;
    let topic: string;
    const others: PublishedIds[] = [];

    before(async () => {
      subject = await open();
    });
    beforeEach(async () => {
      clock = new SetClock();
      ids = await subject.open({ clock });
      topic = `orders-${randomUUID()}`;
      const retention = { cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 } as const;
      await subject.log.createTopic({ name: topic, partitionCount: 3, ...retention });
    });
    afterEach(() => {
      ids.close();
      for (const other of others.splice(0)) other.close();
    });
    after(() => subject.cleanup());

    async function another(idsMaximum?: number): Promise<PublishedIds> {
      const opened = await subject.open({ clock, ...(idsMaximum === undefined ? {} : { idsMaximum }) });
      others.push(opened);
      return opened;
    }

    /** Claims ids for the partition; the claim is settled by the test. */
    function claim(wanted: readonly string[], from: PublishedIds = ids, partition = 1): Promise<IdClaim> {
      const partitions = wanted.map(() => partition);
      return from.claim({ topic, claimedSince, windowMilliseconds, ids: wanted.map(publishedId), partitions });
    }

    async function append(eids: readonly string[], partition = 1): Promise<void> {
      const records = eids.map((eid) => {
        const metadata = { occurred_at: '2026-01-01T00:00:00Z', published_by: 'tests', eid, event_type: topic };
        return { key: null, value: Buffer.from(JSON.stringify({ metadata, text: 'x' })) };
      });
      const [result] = await subject.log.append([{ topic, partition, records }]);
      expect(result?.outcome).to.equal('appended');
    }

    /** Publishes as the publisher does. Returns the ids that were stored before. */
    async function publish(eids: readonly string[], from: PublishedIds = ids, partition = 1): Promise<string[]> {
      const claimed = await claim(eids, from, partition);
      const fresh = eids.filter((eid) => !claimed.storedIn.has(publishedId(eid)));
      if (fresh.length > 0) await append(fresh, partition);
      await claimed.settle(new Set(fresh.map(publishedId)), none);
      return eids.filter((eid) => claimed.storedIn.has(publishedId(eid)));
    }

    it('knows what was stored, and in which partition, whatever the letter case', async () => {
      const eid = randomUUID();
      expect(await publish([eid], ids, 2)).to.deep.equal([]);
      const again = await claim([eid.toUpperCase(), randomUUID()], ids, 0);
      expect([...again.storedIn]).to.deep.equal([[publishedId(eid), 2]]);
      await again.settle(none, none);
    });

    it('tells ids of one topic from those of another, and of an earlier one with its name', async () => {
      const eid = randomUUID();
      await publish([eid]);
      const request = { windowMilliseconds, ids: [publishedId(eid)], partitions: [0] };
      const other = `orders-${randomUUID()}`;
      const retention = { cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 } as const;
      await subject.log.createTopic({ name: other, partitionCount: 1, ...retention });
      const elsewhere = await ids.claim({ ...request, topic: other, claimedSince });
      expect(elsewhere.storedIn.size).to.equal(0);
      await elsewhere.settle(none, none);
      await subject.log.deleteTopic(topic);
      await subject.log.createTopic({ name: topic, partitionCount: 1, ...retention });
      const later = await ids.claim({ ...request, topic, claimedSince: '2026-01-02T00:00:00Z' });
      expect(later.storedIn.size).to.equal(0);
      await later.settle(none, none);
    });

    it('reads from the log what was stored while no ids were claimed, when they are claimed again', async () => {
      const [before, between] = [randomUUID(), randomUUID()];
      const request = { topic, windowMilliseconds, ids: [before, between].map(publishedId), partitions: [0, 0] };
      await publish([before], ids, 1);
      await append([between], 2);
      const again = await ids.claim({ ...request, claimedSince: '2026-01-01T00:00:01Z' });
      expect([...again.storedIn.values()]).to.deep.equal([1, 2]);
      await again.settle(none, none);
    });

    it('counts an id until its window is over, and not a moment longer', async () => {
      const eid = randomUUID();
      const before = clock.now();
      await publish([eid]);
      const after = clock.now();
      clock.shift = windowMilliseconds - (clock.now() - before) - 100;
      expect(await publish([eid])).to.deep.equal([eid]);
      clock.shift += 100 + windowMilliseconds - (clock.now() - after) + 1;
      const fresh = await claim([eid]);
      expect(fresh.storedIn.size).to.equal(0);
      await fresh.settle(none, none);
    });

    it('counts an id from its latest copy, whatever the window was before', async () => {
      for (const factor of [1, 2]) {
        const [eid, other] = [randomUUID(), randomUUID()];
        await append([eid], 0);
        const first = clock.now();
        while (clock.now() <= first + 1) await systemClock.sleep(2);
        const second = clock.now();
        await append([eid], 2);
        await append([other], 1);
        await subject.lose();
        const from = await another();
        const wider = { topic, claimedSince, windowMilliseconds: factor * windowMilliseconds };
        const begun = await from.claim({ ...wider, ids: [publishedId(other)], partitions: [0] });
        expect([...begun.storedIn.values()]).to.deep.equal([1]);
        await begun.settle(none, none);
        // The first copy has left the window, and the second has not.
        clock.now = () => second - 1 + windowMilliseconds;
        const claimed = await claim([eid], from);
        expect([...claimed.storedIn.values()], `after ${factor} windows`).to.deep.equal([2]);
        await claimed.settle(none, none);
        clock.now = () => Date.now() + clock.shift;
      }
    });

    it('keeps to the limit by ids, however many copies of one the log has', async () => {
      const [rare, frequent, third, fourth] = Array.from({ length: 4 }, () => randomUUID()) as [
        string,
        string,
        string,
        string,
      ];
      await append([rare]);
      await systemClock.sleep(5);
      for (let copy = 0; copy < 12; copy += 1) await append([frequent], copy % 3);
      await subject.lose();
      const limited = await another(3);
      expect(await publish([third], limited)).to.deep.equal([]);
      expect(await publish([rare, frequent, third], limited)).to.deep.equal([rare, frequent, third]);
      expect(await codeOf(claim([fourth], limited))).to.equal('OVERLOADED');
    });

    it('lets an id be claimed again when its event was not stored', async () => {
      const eid = randomUUID();
      const first = await claim([eid]);
      await first.settle(none, none);
      expect(await publish([eid])).to.deep.equal([]);
      expect(await publish([eid])).to.deep.equal([eid]);
    });

    it('claims all ids or none, and waits for the claim of another process', async () => {
      const [held, stored, free] = [randomUUID(), randomUUID(), randomUUID()];
      await publish([stored]);
      const first = await claim([held]);
      const other = subject.isShared ? await another() : ids;
      let isClaimed = false;
      const second = claim([free, held, stored], other).then((claimed) => {
        isClaimed = true;
        return claimed;
      });
      await systemClock.sleep(50);
      expect(isClaimed).to.equal(false);
      // What waits holds nothing.
      expect(await publish([free])).to.deep.equal([]);
      await append([held]);
      await first.settle(new Set([publishedId(held)]), none);
      const last = await second;
      expect([...last.storedIn.keys()].sort()).to.deep.equal([held, stored, free].map(publishedId).sort());
      await last.settle(none, none);
    });

    it('gives an id to one of many at a time', async () => {
      const eid = randomUUID();
      const processes = subject.isShared ? [ids, await another(), await another()] : [ids];
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, index) => publish([eid], processes[index % processes.length], index % 3)),
      );
      expect(outcomes.filter((repeated) => repeated.length === 0)).to.have.length(1);
    });

    it('knows the ids of its window again after a start, and after a loss', async () => {
      const eids = Array.from({ length: 300 }, () => randomUUID());
      for (const [partition, from] of [0, 100, 200].entries())
        await publish(eids.slice(from, from + 100), ids, partition);
      expect(await publish(eids, await another())).to.deep.equal(eids);
      await subject.lose();
      const again = await claim(eids, await another());
      expect(again.storedIn.size).to.equal(300);
      expect([0, 100, 299].map((index) => again.storedIn.get(publishedId(eids[index] as string)))).to.deep.equal([
        0, 1, 2,
      ]);
      await again.settle(none, none);
    });

    it('reads none from the log that are older than the window', async () => {
      const [old, young] = [randomUUID(), randomUUID()];
      await append([old]);
      await systemClock.sleep(30);
      const begin = clock.now();
      await append([young]);
      clock.shift = windowMilliseconds - (clock.now() - begin) - 10;
      await subject.lose();
      const claimed = await claim([old, young], await another());
      // It may have taken longer than the ten milliseconds.
      expect(claimed.storedIn.has(publishedId(old))).to.equal(false);
      await claimed.settle(none, none);
      clock.shift = windowMilliseconds / 2;
      expect(await publish([young], await another())).to.deep.equal([young]);
    });

    it('asks the log what became of an append with an unknown outcome', async () => {
      const [stored, lost] = [randomUUID(), randomUUID()];
      const first = await claim([stored, lost]);
      await append([stored]);
      await first.settle(none, new Set([stored, lost].map(publishedId)));
      expect(await publish([stored])).to.deep.equal([stored]);
      // Where the claim lasts for others, it ends when nothing can arrive any more.
      expect(await publish([lost])).to.deep.equal([]);
    });

    it('holds as many ids of a window as the limit, refuses one more, and takes it when there is room', async () => {
      const limited = await another(3);
      const eids = Array.from({ length: 4 }, () => randomUUID());
      expect(await publish(eids.slice(0, 3), limited)).to.deep.equal([]);
      expect(await codeOf(claim(eids.slice(3), limited))).to.equal('OVERLOADED');
      // Repeated ones need no room.
      expect(await publish(eids.slice(0, 3), limited)).to.deep.equal(eids.slice(0, 3));
      clock.shift = windowMilliseconds;
      expect(await publish(eids.slice(3), limited)).to.deep.equal([]);
    });

    it('keeps to the limit when the log has more, and forgets none too early', async () => {
      const eids = Array.from({ length: 5 }, () => randomUUID());
      for (const eid of eids) {
        await append([eid], eids.indexOf(eid) % 3);
        await systemClock.sleep(5);
      }
      await subject.lose();
      const limited = await another(3);
      expect(await codeOf(claim([randomUUID()], limited))).to.equal('OVERLOADED');
      expect(await publish(eids.slice(2), limited)).to.deep.equal(eids.slice(2));
      expect(await codeOf(claim(eids.slice(0, 1), limited))).to.equal('OVERLOADED');
    });

    it('counts a longer window as soon as it is asked for', async () => {
      const eid = randomUUID();
      await publish([eid]);
      clock.shift = windowMilliseconds + 1_000;
      expect(await publish([randomUUID()])).to.deep.equal([]);
      const longer = { topic, claimedSince, windowMilliseconds: 2 * windowMilliseconds, partitions: [0] };
      const claimed = await ids.claim({ ...longer, ids: [publishedId(eid)] });
      expect(claimed.storedIn.size).to.equal(1);
      await claimed.settle(none, none);
    });

    it('reads ids from events of any form, and skips what has none', async () => {
      const [plain, nested, foreign] = [randomUUID(), randomUUID(), randomUUID()];
      await append([plain]);
      const values = [
        JSON.stringify({ data: { metadata: { eid: randomUUID() } }, metadata: { eid: nested } }),
        JSON.stringify({ metadata: { eid: foreign.toUpperCase() } }),
        JSON.stringify({ eid: plain }),
        JSON.stringify({ metadata: null }),
        JSON.stringify({ metadata: { eid: 'none' } }),
        'no JSON',
        'null',
      ];
      const records = values.map((value) => ({ key: null, value: Buffer.from(value) }));
      await subject.log.append([{ topic, partition: 0, records }]);
      await subject.lose();
      const found = await claim([plain, nested, foreign], await another());
      expect([plain, nested, foreign].map((eid) => found.storedIn.get(publishedId(eid)))).to.deep.equal([1, 0, 0]);
      await found.settle(none, none);
    });

    it('has windows that are longer than a claim may last', () => {
      expect(windowMilliseconds).to.be.greaterThan(claimMilliseconds);
    });
  });
}

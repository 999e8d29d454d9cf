import { expect } from 'chai';
import { describe, it } from 'mocha';
import { systemClock } from '../src/clock.ts';
import { Health } from '../src/health.ts';

describe('the health of a process', () => {
  let now = 1_000;
  const clock = { ...systemClock, now: () => now, monotonic: () => now };

  it('is ready while every part is ready, and reports the reason of each part that is not', () => {
    const health = new Health(clock);
    const [disk, accounts] = [health.part('disk'), health.part('accounts-copy')];
    expect(health.notReadyReasons()).to.deep.equal([]);
    disk.reportNotReady('The disk is full.');
    accounts.reportNotReady('The copy is built again.');
    expect(health.notReadyReasons()).to.deep.equal(['The disk is full.', 'The copy is built again.']);
    disk.reportReady();
    accounts.reportReady();
    expect(health.notReadyReasons()).to.deep.equal([]);
  });

  it('reports since when a part has been ready or not ready, however often the same state is reported', () => {
    const health = new Health(clock);
    const disk = health.part('disk');
    const tell = (): unknown[] => health.parts().map(({ name, ready, since, reason }) => [name, ready, since, reason]);
    now = 2_000;
    disk.reportReady();
    expect(tell()).to.deep.equal([['disk', true, 1_000, null]]);
    disk.reportNotReady('Full.');
    now = 3_000;
    disk.reportNotReady('Fuller.');
    expect(tell()).to.deep.equal([['disk', false, 2_000, 'Fuller.']]);
    now = 4_000;
    disk.reportReady();
    expect(tell()).to.deep.equal([['disk', true, 4_000, null]]);
  });

  it('shows how far a part is that reads what it needs, at each look until it reports something else', () => {
    const health = new Health(clock);
    const accounts = health.part('accounts-copy');
    const tell = (): unknown => health.parts().map(({ reason, progress }) => [reason, progress?.percent]);
    let percent = 10;
    accounts.reportReading(() => {
      return { reason: `${percent} %.`, progress: { recordsRead: percent, records: 100, percent, partitions: [] } };
    });
    expect(tell()).to.deep.equal([['10 %.', 10]]);
    percent = 20;
    expect(tell()).to.deep.equal([['20 %.', 20]]);
    expect(health.notReadyReasons()).to.deep.equal(['20 %.']);
    accounts.reportNotReady('The log is not readable.');
    expect(tell()).to.deep.equal([['The log is not readable.', undefined]]);
    accounts.reportReady();
    expect(tell()).to.deep.equal([[null, undefined]]);
  });

  it('ends with the first part that cannot recover, and ignores later reports of that part', async () => {
    const health = new Health(clock);
    const writer = health.part('log-writer');
    writer.reportFailed('The writer ended.');
    writer.reportReady();
    expect(await health.ended).to.equal('The writer ended.');
    expect(health.notReadyReasons()).to.deep.equal(['The writer ended.']);
  });
});

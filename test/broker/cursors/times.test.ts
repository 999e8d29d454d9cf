import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseMoment, positionsBefore, withoutTimes } from '../../../src/broker/cursors/times.ts';
import type { TopicPartition } from '../../../src/ports/event-log.ts';
import { thrownBy } from '../../support/thrown-errors.ts';

/** A log whose records have their offset, in seconds since the epoch, as their time. */
const log = {
  offsetsAt: async (partitions: readonly TopicPartition[], time: number) =>
    partitions.map(({ topic, partition }) => ({ topic, partition, offset: Math.ceil(time / 1_000) })),
};

describe('times in place of offsets', () => {
  it('are moments with a zone', () => {
    expect(parseMoment('1970-01-01T00:00:10Z')).to.equal(10_000);
    expect(parseMoment('1970-01-01T01:00:10.5+01:00')).to.equal(10_500);
    for (const text of ['', '10', '1970-01-01', '1970-01-01T00:00:10', '1970-13-01T00:00:10Z', 'yesterday']) {
      expect(
        thrownBy(() => parseMoment(text)),
        text,
      ).to.include({ status: 422 });
    }
  });

  it('stand for the position before the first event of that time', async () => {
    const places = [
      { eventType: 'loans', partition: 1 },
      { eventType: 'cards', partition: 0 },
    ];
    expect(await positionsBefore(log, places, 10_000)).to.deep.equal(places.map((place) => ({ ...place, offset: 9 })));
    expect((await positionsBefore(log, places, 0)).map(({ offset }) => offset)).to.deep.equal([-1, -1]);
  });

  it('are replaced in cursors, in any letter case, and nothing else is touched', async () => {
    const cursor = (partition: string, offset: string, event_type = 'loans') => ({ event_type, partition, offset });
    const counts = new Map([['loans', 3]]);
    const given = [
      cursor('0', 'TIME:1970-01-01T00:00:10Z'),
      cursor('1', 'time:1970-01-01t00:00:20z'),
      cursor('2', 'BEGIN'),
      cursor('3', 'TIME:1970-01-01T00:00:10Z'),
      cursor('0', 'TIME:1970-01-01T00:00:10Z', 'cards'),
    ];
    expect((await withoutTimes(log, given, counts)).map(({ offset }) => offset)).to.deep.equal([
      '001-0001-000000000000000009',
      '001-0001-000000000000000019',
      'BEGIN',
      'TIME:1970-01-01T00:00:10Z',
      'TIME:1970-01-01T00:00:10Z',
    ]);
    const plain = [cursor('0', '7')];
    expect(await withoutTimes(log, plain, counts)).to.equal(plain);
    const wrong = await withoutTimes(log, [cursor('0', 'TIME:soon')], counts).catch((error: unknown) => error);
    expect(wrong).to.have.property('code', 'UNPROCESSABLE');
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { lastDays, readDate, relativeDays, wholeDays } from '../../../src/accounts/queries/date-ranges.ts';
import { instantInZone, startOfDayInZone } from '../../../src/accounts/queries/zone-days.ts';

const at = (text: string, zone = 'UTC') => ({ zone, now: Date.parse(text) });

describe('the dates of a search', () => {
  it('mean days of the zone, also when its clocks are changed', () => {
    const first = (zone: string, day: string): string => new Date(startOfDayInZone(zone, day)).toISOString();
    expect(first('UTC', '2026-11-20')).to.equal('2026-11-20T00:00:00.000Z');
    expect(first('Europe/Berlin', '2026-03-29')).to.equal('2026-03-28T23:00:00.000Z');
    expect(first('Europe/Berlin', '2026-03-30')).to.equal('2026-03-29T22:00:00.000Z');
    expect(first('Europe/Berlin', '2026-10-26')).to.equal('2026-10-25T23:00:00.000Z');
    // Here the clocks went from midnight to one o'clock, and there from midnight back to eleven.
    expect(first('America/Sao_Paulo', '2018-11-04')).to.equal('2018-11-04T03:00:00.000Z');
    expect(first('America/Sao_Paulo', '2018-02-18')).to.equal('2018-02-18T03:00:00.000Z');
    expect(new Date(instantInZone('Asia/Kolkata', '2026-11-20T10:00:00')).toISOString()).to.equal(
      '2026-11-20T04:30:00.000Z',
    );
  });

  it('are read with and without a time, an offset and fractions of a second', () => {
    const rangeOf = (text: string, zone?: string): unknown => {
      const { from, to } = readDate(text, 'instant', at('2026-01-01T00:00:00Z', zone))?.range ?? {};
      return [from?.value, to?.value];
    };
    const noon = '2026-11-20T12:00:00.000Z';
    for (const text of ['2026-11-20T12:00:00.000000Z', '2026-11-20T13:00:00+01:00', '2026-11-20T12:00', noon]) {
      expect(rangeOf(text), text).to.deep.equal([noon, noon]);
    }
    expect(rangeOf('2026-11-20T12:00:00', 'Europe/Berlin')).to.deep.equal(Array(2).fill('2026-11-20T11:00:00.000Z'));
    // No instant of an account lies there: what follows begins a millisecond later.
    expect(rangeOf('2026-11-20T12:00:00.000001Z')).to.deep.equal(['2026-11-20T12:00:00.001Z', noon]);
    expect(rangeOf('2026-11-20', 'Asia/Tokyo')).to.deep.equal(['2026-11-19T15:00:00.000Z', '2026-11-20T15:00:00.000Z']);
    expect(rangeOf('9999-12-31')).to.deep.equal(['9999-12-31T00:00:00.000Z', '9999-12-31T23:59:59.999Z']);
    for (const text of ['', '2026-02-29', '2026-11-20T24:00', '2026-11-20T12', '20.11.2026', '2026-11-20T12:00+1']) {
      expect(readDate(text, 'instant', at('2026-01-01T00:00:00Z')), text).to.equal(undefined);
    }
  });

  it('of a day are the day as it was written', () => {
    const day = readDate('2026-11-20T00:00:00+09:00', 'day', at('2026-01-01T00:00:00Z', 'America/Lima'));
    expect(day?.day).to.equal('2026-11-20');
    expect(day?.range).to.deep.equal(wholeDays('2026-11-20', '2026-11-20', 'day', 'UTC'));
  });

  it('follow from today in the zone, with weeks from Monday', () => {
    const tokyo = at('2026-11-22T16:00:00Z', 'Asia/Tokyo');
    expect(relativeDays('TODAY', tokyo)).to.deep.equal(['2026-11-23', '2026-11-23']);
    expect(relativeDays('THIS_WEEK', tokyo)).to.deep.equal(['2026-11-23', '2026-11-29']);
    expect(relativeDays('THIS_WEEK', at('2026-11-22T16:00:00Z'))).to.deep.equal(['2026-11-16', '2026-11-22']);
    expect(relativeDays('THIS_MONTH', at('2028-02-10T00:00:00Z'))).to.deep.equal(['2028-02-01', '2028-02-29']);
    expect(relativeDays('THIS_MONTH', at('2026-12-31T00:00:00Z'))).to.deep.equal(['2026-12-01', '2026-12-31']);
    expect(relativeDays('THIS_YEAR', tokyo)).to.deep.equal(['2026-01-01', '2026-12-31']);
    expect(lastDays(0, tokyo)).to.deep.equal(['2026-11-23', '2026-11-23']);
    expect(lastDays(7, tokyo)).to.deep.equal(['2026-11-16', '2026-11-23']);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isDateTime } from '../../../src/broker/schemas/text-formats.ts';

describe('isDateTime', () => {
  it('has the last day of each month, and not the day after it', () => {
    for (const [index, days] of [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
      const month = `2026-${String(index + 1).padStart(2, '0')}`;
      expect(isDateTime(`${month}-${days}T00:00:00Z`), month).to.equal(true);
      expect(isDateTime(`${month}-${days + 1}T00:00:00Z`), month).to.equal(false);
    }
  });

  for (const text of ['2024-02-29T00:00:00Z', '2026-12-31T23:59:60.123456+01:00', '2026-01-01t00:00:00z']) {
    it(`accepts ${text}`, () => expect(isDateTime(text)).to.equal(true));
  }
  for (const text of [
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01 x',
    '2026-1-1T00:00:00Z',
  ]) {
    it(`refuses ${text}`, () => expect(isDateTime(text)).to.equal(false));
  }
});

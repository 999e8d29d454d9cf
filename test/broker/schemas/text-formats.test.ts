import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkOf, isDateTime, stepsOfFormat } from '../../../src/broker/schemas/text-formats.ts';

describe('isDateTime', () => {
  it('has the last day of each month, and not the day after it', () => {
    for (const [index, days] of [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
      const month = `2026-${String(index + 1).padStart(2, '0')}`;
      expect(isDateTime(`${month}-${days}T00:00:00Z`), month).to.equal(true);
      expect(isDateTime(`${month}-${days + 1}T00:00:00Z`), month).to.equal(false);
    }
  });

  it('has the 29th of February every four years, but in a whole century only every four hundred', () => {
    const years = ['1600', '1700', '1896', '1900', '1999', '2000', '2001', '2004', '2100', '2104'];
    const leapYears = years.filter((year) => isDateTime(`${year}-02-29T00:00:00Z`));
    expect(leapYears).to.deep.equal(['1600', '1896', '2000', '2004', '2104']);
    expect(years.filter((year) => isDateTime(`${year}-02-30T00:00:00Z`))).to.deep.equal([]);
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

describe('stepsOfFormat', () => {
  it('is the same for every text of 64 characters, and grows with longer ones', () => {
    expect([0, 64, 65, 66].map((characters) => stepsOfFormat('email', characters))).to.deep.equal([80, 80, 730, 740]);
  });

  it('grows with the square of the characters of a URL', () => {
    expect([0, 10, 100].map((characters) => stepsOfFormat('url', characters))).to.deep.equal([80, 130, 5_080]);
  });

  it('counts the making of a regular expression', () => {
    expect([0, 1, 65].map((characters) => stepsOfFormat('regex', characters))).to.deep.equal([10_000, 10_100, 16_500]);
  });
});

describe('checkOf', () => {
  const accepted = (format: Parameters<typeof checkOf>[0]): string[] | undefined => {
    const check = checkOf(format);
    return check && ['a', 'b'].filter(check);
  };

  it('checks by a pattern or a function, given alone or in a definition', () => {
    const isB = (text: string): boolean => text === 'b';
    expect([/b/, isB, { validate: /b/ }, { type: 'string', validate: isB } as const].map(accepted)).to.deep.equal(
      Array.from({ length: 4 }, () => ['b']),
    );
  });

  it('is undefined for a format of numbers, without a rule or with one that needs a compiler', () => {
    const formats = [undefined, true, { type: 'number', validate: () => true }, { validate: 'b' }] as const;
    expect(formats.map((format) => checkOf(format as Parameters<typeof checkOf>[0]))).to.deep.equal(
      Array(4).fill(undefined),
    );
  });
});

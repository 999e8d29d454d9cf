import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkOf, stepsOfFormat } from '../../../src/broker/schemas/text-formats.ts';

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

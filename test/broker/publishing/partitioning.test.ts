import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  absent,
  hashAscii,
  hashPartition,
  keyText,
  namedPartition,
  numberText,
  partitionOfSum,
  randomPartition,
  valueAt,
  joinKeyFields,
} from '../../../src/broker/publishing/partitioning.ts';

describe('hashPartition', () => {
  // The hashes of these texts are known from Java's String.hashCode.
  const cases: [fields: string[], sum: number][] = [
    [[''], 0],
    [['a'], 97],
    [['hello'], 99_162_322],
    [['Aa', 'BB'], 4_224],
    [['polygenelubricants'], -2_147_483_648],
    [['polygenelubricants', 'polygenelubricants'], 0],
    [['\u{1F600}'], 1_772_899],
  ];
  for (const [fields, sum] of cases) {
    it(`puts ${JSON.stringify(fields)}, whose hash is ${sum}, into the partition of the remainder`, () => {
      for (const count of [1, 2, 3, 8, 12]) expect(hashPartition(fields, count)).to.equal(Math.abs(sum % count));
    });
  }

  it('is the same by the bytes of texts that are ASCII', () => {
    for (const fields of [[''], ['a'], ['hello'], ['Aa', 'BB'], ['polygenelubricants']]) {
      const bytes = Buffer.from(`-${fields.join('')}-`);
      let start = 1;
      let sum = 0;
      for (const { length } of fields) {
        sum = (sum + hashAscii(bytes, start, start + length)) | 0;
        start += length;
      }
      for (const count of [1, 3, 8]) expect(partitionOfSum(sum, count)).to.equal(hashPartition(fields, count));
    }
  });

  it('does not depend on the order of the fields', () => {
    expect(hashPartition(['one', 'two'], 8)).to.equal(hashPartition(['two', 'one'], 8));
  });
});

describe('numberText', () => {
  for (const [written, printed] of [
    ['17', '17'],
    ['-3', '-3'],
    ['9007199254740993', '9007199254740993'],
    ['1.0', '1.0'],
    ['1.50', '1.5'],
    ['1e2', '100.0'],
    ['1E-2', '0.01'],
    ['0.001', '0.001'],
    ['0.0001', '1.0E-4'],
    ['12345678.5', '1.23456785E7'],
    ['1e10', '1.0E10'],
    ['9999999.0', '9999999.0'],
    ['0.0', '0.0'],
    ['-0', '-0.0'],
    ['-0.0', '-0.0'],
  ] as const) {
    it(`prints ${written} as ${printed}`, () => {
      expect(numberText(written)).to.equal(printed);
    });
  }
});

describe('keyText', () => {
  it('uses strings as they are, and the JSON words of other plain values', () => {
    const unused = (): string => 'unused';
    expect([keyText('x', unused), keyText(true, unused), keyText(null, unused)]).to.deep.equal(['x', 'true', 'null']);
  });

  it('uses numbers as written and the text of objects', () => {
    expect(keyText(1, () => '1.0')).to.equal('1.0');
    expect(keyText({ a: 1 }, () => '{"a":1}')).to.equal('{"a":1}');
  });
});

describe('namedPartition', () => {
  it('accepts existing partitions and nothing else', () => {
    expect(namedPartition('2', 3)).to.equal(2);
    for (const name of ['3', '-1', '02', '1.0', '', 'x', 1, undefined])
      expect(namedPartition(name, 3)).to.equal(undefined);
  });
});

describe('randomPartition', () => {
  it('gives every partition the same share', () => {
    expect([0, 0.24, 0.25, 0.5, 0.999].map((random) => randomPartition(random, 4))).to.deep.equal([0, 0, 1, 2, 3]);
  });
});

describe('valueAt', () => {
  it('follows a path of own properties', () => {
    const event = { a: { b: null, c: ['x'] } };
    expect(valueAt(event, ['a', 'b'])).to.equal(null);
    for (const path of [['z'], ['a', 'z'], ['a', 'b', 'c'], ['a', 'c', '0'], ['constructor'], ['a', 'toString']]) {
      expect(valueAt(event, path), path.join('.')).to.equal(absent);
    }
  });
});

describe('the key of a record', () => {
  it('has every field that chooses the partition, in their order', () => {
    expect(joinKeyFields(['a'])).to.equal('a');
    expect(joinKeyFields(['a', '7', 'b,c'])).to.equal('a,7,b,c');
  });
});

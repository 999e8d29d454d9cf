import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { formatShortPositions, parseShortPositions } from '../../../src/broker/cursors/short-positions.ts';

describe('the short form of positions', () => {
  const written: [text: string, positions: [partition: number, offset: number][]][] = [
    ['p0.388', [[0, 388]]],
    [
      'p0.388.-1.0',
      [
        [0, 388],
        [1, -1],
        [2, 0],
      ],
    ],
    [
      'p2.5.p4.6.7.p0.-1',
      [
        [2, 5],
        [4, 6],
        [5, 7],
        [0, -1],
      ],
    ],
  ];
  for (const [text, positions] of written) {
    it(`is ${text}, and is read as these cursors`, () => {
      const given = positions.map(([partition, offset]) => ({ partition, offset }));
      expect(formatShortPositions(given)).to.equal(text);
      expect(parseShortPositions(text)).to.deep.equal(
        positions.map(([partition, offset]) => ({ partition: String(partition), offset: String(offset) })),
      );
    });
  }

  it('is read as it was written, and needs no encoding in a URL', () => {
    const position = fc.record({ partition: fc.nat(999_999), offset: fc.integer({ min: -1, max: 2 ** 53 - 1 }) });
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 100 }), (positions) => {
        const text = formatShortPositions(positions);
        expect(encodeURIComponent(text)).to.equal(text);
        expect(parseShortPositions(text)).to.deep.equal(
          positions.map(({ partition, offset }) => ({ partition: String(partition), offset: String(offset) })),
        );
      }),
    );
  });

  it('of a thousand partitions with a trillion events in each leaves two of the 16 KiB that headers may have', () => {
    const positions = Array.from({ length: 1_000 }, (_, partition) => ({ partition, offset: 10 ** 12 }));
    expect(formatShortPositions(positions).length).to.be.at.most(14 * 1024);
  });

  for (const text of [
    '',
    'p',
    'p0',
    'p0.',
    'p0.1.p1',
    'p0.1.p3',
    'p0..1',
    'p00.1',
    'p-1.1',
    'p1000000.1',
    'p0.1.p1000000.1',
    'p0.-2',
    'p0.+1',
    'p0.1e3',
    `p0.${'1'.repeat(19)}`,
    '1',
    '1.p0',
    ' p0.1',
    'p0.1 ',
    '[]',
    'BEGIN',
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(parseShortPositions(text)).to.equal(undefined);
    });
  }

  it('ends where partitions have no more numbers', () => {
    expect(parseShortPositions('p999999.1')).to.deep.equal([{ partition: '999999', offset: '1' }]);
  });
});

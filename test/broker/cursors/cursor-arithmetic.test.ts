import { expect } from 'chai';
import { describe, it } from 'mocha';
import { cursorDistance, shiftCursor, unconsumedEvents } from '../../../src/broker/cursors/cursor-arithmetic.ts';

const at = (offset: number, partition = '0') => ({ partition, offset });

describe('cursorDistance', () => {
  it('counts from after the first to the second, in either direction', () => {
    expect([cursorDistance(at(-1), at(4)), cursorDistance(at(4), at(4)), cursorDistance(at(4), at(1))]).to.deep.equal([
      5, 0, -3,
    ]);
  });

  it('refuses cursors of different partitions', () => {
    expect(() => cursorDistance(at(0), at(0, '1'))).to.throw(/different partition/);
  });
});

describe('shiftCursor', () => {
  it('moves back to just before the first event at most, and forward beyond the end', () => {
    expect([shiftCursor(at(2), -3), shiftCursor(at(2), 100)]).to.deep.equal([-1, 102]);
    expect(() => shiftCursor(at(2), -4))
      .to.throw(/cannot be moved by -4/)
      .with.property('code', 'UNPROCESSABLE');
    expect(() => shiftCursor(at(2), Number.MAX_SAFE_INTEGER)).to.throw(/cannot be moved/);
  });
});

describe('unconsumedEvents', () => {
  it('counts the available events after a position', () => {
    const bounds = { topic: 't', partition: 0, earliest: 3, latest: 10 };
    expect([-1, 2, 3, 9, 12].map((offset) => unconsumedEvents(bounds, offset))).to.deep.equal([7, 7, 6, 0, -3]);
  });
});

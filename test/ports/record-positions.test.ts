import { expect } from 'chai';
import { describe, it } from 'mocha';
import { noValue, type RecordBatch } from '../../src/ports/event-log.ts';
import { offsetAt, valueEndAt, valueStartAt } from '../../src/ports/record-positions.ts';

const lists = {
  offsets: Float64Array.of(7, 9),
  valueStarts: Uint32Array.of(0, noValue),
  valueEnds: Uint32Array.of(5, noValue),
};

describe('the positions of a record', () => {
  it('are those in the lists of its batch', () => {
    expect([0, 1].map((index) => offsetAt(lists, index))).to.deep.equal([7, 9]);
    expect([0, 1].map((index) => valueStartAt(lists, index))).to.deep.equal([0, noValue]);
    expect([0, 1].map((index) => valueEndAt(lists, index))).to.deep.equal([5, noValue]);
  });

  it('come from a batch that makes its lists on demand without any list', () => {
    const batch: Pick<RecordBatch, 'offsets' | 'valueStarts' | 'valueEnds' | 'positions'> = {
      get offsets(): never {
        throw new Error('The lists were made');
      },
      get valueStarts(): never {
        throw new Error('The lists were made');
      },
      get valueEnds(): never {
        throw new Error('The lists were made');
      },
      positions: {
        offsetAt: (index) => 100 + index,
        valueStartAt: (index) => 10 * index,
        valueEndAt: (index) => 10 * index + 9,
      },
    };
    expect([offsetAt(batch, 3), valueStartAt(batch, 3), valueEndAt(batch, 3)]).to.deep.equal([103, 30, 39]);
  });
});

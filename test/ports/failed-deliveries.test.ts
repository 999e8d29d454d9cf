import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { recordFailure, type FailureRecord } from '../../src/ports/failed-deliveries.ts';

const delivery = (firstOffset: number, throughOffset = firstOffset) => ({
  eventType: 'loans',
  partition: 0,
  firstOffset,
  throughOffset,
});

describe('the failure record of a partition', () => {
  it('delivers one by one after as many failures in a row as are allowed, and not one earlier', () => {
    let record: FailureRecord | undefined;
    for (let failures = 1; failures < 10; failures += 1) {
      record = recordFailure(record, delivery(5, 9), 10);
      expect(record).to.deep.equal({ failures, firstOffset: 5, throughOffset: 9, isOneByOne: false });
    }
    const searching = recordFailure(record, delivery(5, 9), 10);
    expect(searching).to.deep.equal({ failures: 0, firstOffset: 5, throughOffset: 9, isOneByOne: true });
  });

  it('searches through the most that any of the failed streams had sent', () => {
    const first = recordFailure(undefined, delivery(5, 9), 3);
    const second = recordFailure(first, delivery(5, 12), 3);
    expect(recordFailure(second, delivery(5, 5), 3)).to.deep.include({ throughOffset: 12, isOneByOne: true });
  });

  it('starts again behind the events that were searched through', () => {
    const searching: FailureRecord = { failures: 2, firstOffset: 5, throughOffset: 9, isOneByOne: true };
    expect(recordFailure(searching, delivery(9), 3)).to.deep.include({ failures: 1, isOneByOne: true });
    expect(recordFailure(searching, delivery(10, 12), 3)).to.deep.equal({
      failures: 1,
      firstOffset: 10,
      throughOffset: 12,
      isOneByOne: false,
    });
  });

  it('never counts more failures of an event than streams failed with it first', () => {
    const failedFirsts = fc.array(
      fc.record({ first: fc.integer({ min: 0, max: 4 }), sent: fc.integer({ min: 0, max: 3 }) }),
    );
    fc.assert(
      fc.property(failedFirsts, fc.integer({ min: 2, max: 4 }), (list, failuresMaximum) => {
        let record: FailureRecord | undefined;
        let inARow = 0;
        let last = -1;
        for (const { first, sent } of list) {
          inARow = first === last ? inARow + 1 : 1;
          last = first;
          record = recordFailure(record, delivery(first, first + sent), failuresMaximum);
          expect(record.failures).to.be.at.most(inARow);
          expect(record.throughOffset).to.be.at.least(first);
        }
      }),
    );
  });
});

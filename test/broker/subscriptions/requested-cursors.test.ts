import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { FieldViolation } from '../../../src/errors.ts';
import { parsePositions, readCursorFields } from '../../../src/broker/subscriptions/requested-cursors.ts';
import { outcomeOf } from '../../support/thrown-errors.ts';

describe('reading cursors', () => {
  it('accepts numbers by their digits', () => {
    const violations: FieldViolation[] = [];
    const cursors = readCursorFields('items', [{ event_type: 'a', partition: 0, offset: 7 }], violations);
    expect(cursors).to.deep.equal([{ event_type: 'a', partition: '0', offset: '7' }]);
    expect(violations).to.deep.equal([]);
  });

  const counts = new Map([['a', 2]]);
  const rows: [string, string, string, string][] = [
    ['a', '1', '7', 'accepted'],
    ['a', '2', '7', '422 non existing partition 2'],
    ['b', '0', '7', '422 non existing partition 0'],
    ['a', 'x', '7', '422 non existing partition x'],
    ['a', '-1', '7', '422 non existing partition -1'],
    ['a', '0', 'seven', '422 invalid offset seven'],
  ];
  for (const [eventType, partition, offset, expected] of rows) {
    it(`of event type ${eventType}, partition ${partition}, offset ${offset}: ${expected}`, () => {
      const cursors = [{ event_type: eventType, partition, offset }];
      expect(outcomeOf(() => parsePositions(cursors, counts))).to.equal(expected);
    });
  }
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readCursor, writeCursor } from '../../../src/accounts/queries/cursor.ts';

const byAmount = { field: 'loanAmount', descending: true };

describe('the cursor of a search', () => {
  it('stands for the place that it was written for, in its order alone', () => {
    const positions = [
      { value: 'ä"\\', identity: ['L-1'] },
      { value: null, identity: ['L-1'] },
    ];
    for (const position of positions) {
      const cursor = writeCursor(byAmount, position);
      expect(cursor).to.match(/^[\w-]+$/);
      expect(readCursor(cursor, byAmount, 'loans')).to.deep.equal(position);
      expect(readCursor(cursor, { ...byAmount, descending: false }, 'loans')).to.equal(undefined);
      expect(readCursor(cursor, { ...byAmount, field: 'id' }, 'loans')).to.equal(undefined);
      expect(readCursor(cursor, byAmount, 'transactions')).to.equal(undefined);
      expect(readCursor(`${cursor}!`, byAmount, 'loans')).to.equal(undefined);
    }
    const ofTransaction = { value: '1', identity: ['L-1', 7] };
    const cursor = writeCursor(byAmount, ofTransaction);
    expect(readCursor(cursor, byAmount, 'transactions')).to.deep.equal(ofTransaction);
    expect(readCursor(cursor, byAmount, 'loans')).to.equal(undefined);
  });

  it('begins with an underscore or EMPTY, and ends empty', () => {
    for (const first of ['_', 'EMPTY']) expect(readCursor(first, byAmount, 'loans')).to.equal('first');
    expect(writeCursor(byAmount, null)).to.equal('');
  });

  it('is refused when it is anything else', () => {
    const written = [{}, [], ['loanAmount', true, 7, 'L-1'], ['loanAmount', true, '1'], ['loanAmount', true, '1', 7]];
    const texts = written.map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url'));
    for (const text of ['', 'x', '{}', 'A'.repeat(3_000), ...texts]) {
      expect(readCursor(text, byAmount, 'loans'), text).to.equal(undefined);
    }
  });
});

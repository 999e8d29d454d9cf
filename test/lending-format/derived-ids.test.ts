import { expect } from 'chai';
import { describe, it } from 'mocha';
import { v5 } from 'uuid';
import { dueCommandId, eventId, keysOf } from '../../src/lending-format/derived-ids.ts';

describe('identities by the position of a command', () => {
  for (const [partition, offset] of [
    [0, 0],
    [3, 12_345_678],
    [999, Number.MAX_SAFE_INTEGER],
  ] as const) {
    it(`are name-based UUIDs at ${partition}, ${offset}`, () => {
      for (let index = 0; index < 40; index += 1) {
        expect(eventId({ partition, offset }, index)).to.equal(
          v5(`${partition}|${offset}|${index}`, '6f0f3a46-5a0c-5b9e-9d0a-3f3f7c1f6d01'),
        );
        const purpose = `fee/${index}`;
        expect(keysOf({ partition, offset })(purpose)).to.equal(
          v5(`${partition}|${offset}|${purpose}`, '0b8f3a5e-4f0d-5d5c-8a3a-92c4f0a7e6b2').replaceAll('-', ''),
        );
      }
    });
  }
});

describe('the id of a command that the end of a day posts', () => {
  it('is the name-based UUID of the account, the day and the purpose', () => {
    for (const id of ['L', 'a'.repeat(64), 'Loan.1_2-3']) {
      expect(dueCommandId(id, '2026-02-15', 'late fee/12')).to.equal(
        v5(`${id}/2026-02-15/late fee/12`, 'c5f1b9c6-0f0e-5a0f-8c62-0d8c3f0e6b77'),
      );
    }
  });
});

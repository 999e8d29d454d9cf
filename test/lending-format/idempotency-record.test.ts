import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  commandIdOfKey,
  idempotencyRecordKey,
  parseIdempotencyRecord,
  writeIdempotencyRecord,
} from '../../src/lending-format/idempotency-record.ts';

describe('the record of a command that posted nothing', () => {
  it('is read as it was written', () => {
    const errors = [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'amount' }];
    for (const command of [
      { digest: 'd', decidedAt: 7 },
      { digest: 'd', decidedAt: 7, errors },
    ]) {
      expect(parseIdempotencyRecord(writeIdempotencyRecord(command))).to.deep.equal(command);
    }
  });

  for (const text of ['', '{}', 'null', '{"decidedAt":"1","digest":"d"}', '{"decidedAt":1}']) {
    it(`cannot be read from ${JSON.stringify(text)}`, () => {
      expect(() => parseIdempotencyRecord(text)).to.throw(/record of a command/);
    });
  }

  it('is distinguished from loans and from the checkpoint by its key', () => {
    expect(commandIdOfKey(idempotencyRecordKey('c'))).to.equal('c');
    expect([commandIdOfKey('L1'), commandIdOfKey('checkpoint/1'), commandIdOfKey('command')]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  IdempotencyRecords,
  commandIdOfKey,
  parseIdempotencyRecord,
  idempotencyRecordKey,
  writeIdempotencyRecord,
} from '../../src/worker/idempotency-records.ts';

const decidedAt = (time: number): string => writeIdempotencyRecord({ digest: 'd', decidedAt: time });

describe('the commands that are remembered', () => {
  it('come back as they were written', () => {
    const errors = [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'amount' }];
    for (const command of [
      { digest: 'd', decidedAt: 7 },
      { digest: 'd', decidedAt: 7, errors },
    ]) {
      expect(parseIdempotencyRecord(writeIdempotencyRecord(command))).to.deep.equal(command);
    }
  });

  for (const text of ['', '{}', 'null', '{"decidedAt":"1","digest":"d"}', '{"decidedAt":1}']) {
    it(`are not read from ${JSON.stringify(text)}`, () => {
      expect(() => parseIdempotencyRecord(text)).to.throw(/record of a command/);
    });
  }

  it('are told from loans and from the position by their keys', () => {
    expect(commandIdOfKey(idempotencyRecordKey('c'))).to.equal('c');
    expect([commandIdOfKey('L1'), commandIdOfKey('fence/1'), commandIdOfKey('command')]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are found until they are deleted', () => {
    const commands = new IdempotencyRecords();
    commands.set('a', decidedAt(1));
    expect(commands.get('a')).to.deep.equal({ digest: 'd', decidedAt: 1 });
    commands.delete('a');
    expect(commands.get('a')).to.equal(undefined);
  });

  it('are forgotten oldest first, up to the very time, 500 at once', () => {
    const commands = new IdempotencyRecords();
    for (let time = 1; time <= 502; time += 1) commands.set(`c${time}`, decidedAt(time));
    expect(commands.decidedUpTo(0)).to.deep.equal([]);
    expect(commands.decidedUpTo(2)).to.deep.equal(['c1', 'c2']);
    expect(commands.decidedUpTo(500)).to.have.length(500);
    expect(commands.decidedUpTo(502)).to.have.length(500);
    // Decided again: now it is the youngest.
    commands.set('c1', decidedAt(503));
    expect(commands.decidedUpTo(3)).to.deep.equal(['c2', 'c3']);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { writeIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { IdempotencyRecords } from '../../src/worker/idempotency-records.ts';

const decidedAt = (time: number): string => writeIdempotencyRecord({ digest: 'd', decidedAt: time });

describe('remembered commands', () => {
  it('are found until they are deleted', () => {
    const commands = new IdempotencyRecords();
    commands.set('a', decidedAt(1));
    expect(commands.get('a')).to.deep.equal({ digest: 'd', decidedAt: 1 });
    commands.delete('a');
    expect(commands.get('a')).to.equal(undefined);
  });

  it('are dropped oldest first at their exact time, at most 500 at once', () => {
    const commands = new IdempotencyRecords();
    for (let time = 1; time <= 502; time += 1) commands.set(`c${time}`, decidedAt(time));
    expect(commands.decidedUpTo(0)).to.deep.equal([]);
    expect(commands.decidedUpTo(2)).to.deep.equal(['c1', 'c2']);
    expect(commands.decidedUpTo(500)).to.have.length(500);
    expect(commands.decidedUpTo(502)).to.have.length(500);
    // Decided again: now it is the newest.
    commands.set('c1', decidedAt(503));
    expect(commands.decidedUpTo(3)).to.deep.equal(['c2', 'c3']);
  });
});

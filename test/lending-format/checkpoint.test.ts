import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isLendstreamError } from '../../src/errors.ts';
import { isAccountOrProductId } from '../../src/lending-format/payloads/id-forms.ts';
import {
  type CheckpointRecord,
  bytesOfOutcome,
  checkpointKey,
  isCheckpointKey,
  joinedCheckpoint,
  parseCheckpoint,
  writeOutcome,
} from '../../src/lending-format/checkpoint.ts';

describe('the checkpoint record', () => {
  it('is read as it was written', () => {
    const checkpoint: CheckpointRecord = {
      position: 41,
      outcomes: [
        { commandId: 'a', outcome: 'committed', loanAccountId: 'L1', transactionKey: 'k' },
        {
          commandId: 'b',
          outcome: 'refused',
          loanAccountId: 'L1',
          errors: [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'payload' }],
        },
        { commandId: null, outcome: 'dead_letter', reason: 'no JSON' },
      ],
    };
    const text = joinedCheckpoint(checkpoint, checkpoint.outcomes.map(writeOutcome));
    expect(parseCheckpoint(Buffer.from(text))).to.deep.equal(checkpoint);
    expect(parseCheckpoint(text)).to.deep.equal(checkpoint);
    expect(parseCheckpoint(joinedCheckpoint({ position: 0 }, []))).to.deep.equal({ position: 0, outcomes: [] });
    const ahead = { position: 7, decidedAheadTo: 12 };
    expect(parseCheckpoint(joinedCheckpoint(ahead, []))).to.deep.equal({ ...ahead, outcomes: [] });
  });

  it('has a key that no loan can have', () => {
    expect(isCheckpointKey(checkpointKey(7))).to.equal(true);
    expect(isAccountOrProductId(checkpointKey(7))).to.equal(false);
    expect(isCheckpointKey('L1')).to.equal(false);
  });

  for (const text of [
    '',
    '{}',
    '{"position":"1","outcomes":[]}',
    '{"position":1}',
    '{"position":1,"decidedAheadTo":"2","outcomes":[]}',
    'null',
  ]) {
    it(`is never read from: ${text || 'nothing'}`, () => {
      let caught: unknown;
      try {
        parseCheckpoint(text);
      } catch (error) {
        caught = error;
      }
      expect(isLendstreamError(caught, 'INTERNAL')).to.equal(true);
    });
  }
});

describe('the memory of an outcome', () => {
  const overheadBytes = 400;

  it('is that of its texts, and 400 bytes', () => {
    expect(bytesOfOutcome({ commandId: null, outcome: 'dead_letter', reason: 'x'.repeat(500) })).to.equal(
      overheadBytes + 500,
    );
    const [commandId, digest, loanAccountId, transactionKey] = ['c'.repeat(36), 'd'.repeat(64), 'L1', 't'.repeat(36)];
    const posted = bytesOfOutcome({ commandId, outcome: 'committed', digest, loanAccountId, transactionKey });
    expect(posted).to.equal(overheadBytes + 36 + 64 + 2 + 36);
  });

  it('contains all that a refusal lists', () => {
    const errors = Array.from({ length: 1_000 }, () => ({
      errorCode: 4,
      errorReason: 'INVALID_PARAMETERS',
      errorSource: 'payload',
    }));
    const bytes = bytesOfOutcome({ commandId: 'c', outcome: 'refused', loanProductId: 'P', errors });
    expect(bytes).to.equal(overheadBytes + 2 + JSON.stringify(errors).length);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { ErrorCode } from '../../../src/errors.ts';
import { outcomeOf, type ProduceOutcome } from '../../../src/kafka/produce/produce-outcome.ts';
import {
  errorOf,
  isCoordinatorError,
  isLeadershipError,
  isUnknownTopic,
  protocolError,
} from '../../../src/kafka/protocol/error-codes.ts';

/** Every number that Kafka's protocol has, and a few more. */
const numbers = Array.from({ length: 140 }, (_, index) => index - 2);

function numbersWhere(predicate: (code: number) => boolean): number[] {
  return numbers.filter(predicate);
}

describe("the error codes of Kafka's protocol", () => {
  it('that say that a leader has moved, a topic does not exist or a coordinator is away are these numbers', () => {
    expect(numbersWhere(isLeadershipError)).to.deep.equal([5, 6, 56, 74, 75]);
    expect(numbersWhere(isUnknownTopic)).to.deep.equal([3, 17]);
    expect(numbersWhere(isCoordinatorError)).to.deep.equal([14, 15, 16]);
  });

  it('are these errors of the port, and all others say that the log is unavailable', () => {
    const expected: Partial<Record<ErrorCode, number[]>> = {
      OFFSET_OUT_OF_RANGE: [1],
      CORRUPT_BATCH: [2],
      UNKNOWN_TOPIC_OR_PARTITION: [3],
      RECORD_TOO_LARGE: [10, 18],
      TOPIC_ALREADY_EXISTS: [36],
      UNPROCESSABLE: [17, 37, 38, 40, 44, 87],
      WRITER_FENCED: [47, 90],
    };
    for (const [code, mapped] of Object.entries(expected)) {
      expect(
        numbersWhere((number) => errorOf(number, 'Reading').code === code),
        code,
      ).to.deep.equal(mapped);
    }
    const named = Object.values(expected).flat();
    const others = numbersWhere((number) => errorOf(number, 'Reading').code === 'LOG_UNAVAILABLE');
    expect(others).to.deep.equal(numbers.filter((number) => !named.includes(number)));
  });

  it('decide what happens to records that were sent', () => {
    const expected: Record<Exclude<ProduceOutcome, 'unknown'>, number[]> = {
      stored: [0, 46],
      again: [2, 19, 51],
      again_elsewhere: [3],
      perhaps_stored: [7, 20],
      perhaps_stored_elsewhere: [5, 6, 56, 74, 75],
      identity_refused: [45, 47, 59, 90],
      too_large: [10, 18],
      refused: [17, 29, 31, 44, 53, 87],
    };
    for (const [outcome, mapped] of Object.entries(expected)) {
      expect(
        numbersWhere((number) => outcomeOf(number) === outcome),
        outcome,
      ).to.deep.equal(mapped);
    }
    const named = Object.values(expected).flat();
    expect(numbersWhere((number) => outcomeOf(number) === 'unknown')).to.deep.equal(
      numbers.filter((number) => !named.includes(number)),
    );
  });

  it('without a decision of their own are told to the operator by name', () => {
    const { message, details } = errorOf(89, 'Creating topic a', { topic: 'a' });
    expect(message).to.equal('Creating topic a failed: Kafka responded with 89 (throttlingQuotaExceeded).');
    expect(details).to.deep.equal({ topic: 'a' });
    expect(errorOf(120, 'Reading').message).to.equal('Reading failed: Kafka responded with 120 (unknown error).');
    const {
      unknownServerError,
      unknownMemberId,
      groupAuthorizationFailed,
      notController,
      invalidTransactionState,
      invalidProducerIdMapping,
      transactionCoordinatorFenced,
      operationNotAttempted,
      topicDeletionDisabled,
      transactionalIdNotFound,
    } = protocolError;
    expect([unknownServerError, unknownMemberId, groupAuthorizationFailed, notController]).to.deep.equal([
      -1, 25, 30, 41,
    ]);
    expect([invalidTransactionState, invalidProducerIdMapping, transactionCoordinatorFenced]).to.deep.equal([
      48, 49, 52,
    ]);
    expect([operationNotAttempted, topicDeletionDisabled, transactionalIdNotFound]).to.deep.equal([55, 73, 105]);
  });
});

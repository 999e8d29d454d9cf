import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  deduplicationAnnotation,
  deduplicationMilliseconds,
  deduplicationSecondsMaximum,
  deduplicationSecondsMinimum,
  deduplicationViolations,
} from '../../../src/broker/definitions/deduplication.ts';
import { claimMilliseconds } from '../../../src/ports/published-ids.ts';

type EventType = Parameters<typeof deduplicationViolations>[0];

describe('the deduplication window of an event type', () => {
  function eventType(seconds: string | null, changes: Partial<EventType> = {}): EventType {
    return {
      annotations: seconds === null ? {} : { [deduplicationAnnotation]: seconds },
      category: 'business',
      cleanup_policy: 'delete',
      options: { retention_time: 345_600_000 },
      ...changes,
    };
  }

  for (const [seconds, milliseconds] of [
    [String(deduplicationSecondsMinimum), 60_000],
    ['600', 600_000],
    [String(deduplicationSecondsMaximum), 86_400_000],
    [null, undefined],
  ] as const) {
    it(`may be ${seconds ?? 'absent'}`, () => {
      expect(deduplicationViolations(eventType(seconds))).to.deep.equal([]);
      expect(deduplicationMilliseconds(eventType(seconds))).to.equal(milliseconds);
    });
  }

  for (const seconds of ['59', '86401', '0', '-60', '60.5', '060', ' 60', '', 'PT5M', '1e3', '600000']) {
    it(`may not be "${seconds}"`, () => {
      expect(deduplicationViolations(eventType(seconds))).to.deep.equal([
        {
          field: 'annotations[lendstream/deduplication-window-seconds]',
          message: 'must be a whole number from 60 to 86400',
        },
      ]);
      // As if it had been stored before it had a meaning.
      expect(deduplicationMilliseconds(eventType(seconds))).to.equal(undefined);
    });
  }

  for (const [what, changes, reason] of [
    ['events without an id', { category: 'undefined' }, /metadata\.eid/],
    ['compacted events', { cleanup_policy: 'compact' }, /cleanup_policy/],
    ['events that are compacted and deleted', { cleanup_policy: 'compact_and_delete' }, /cleanup_policy/],
    ['events that are kept for less time', { options: { retention_time: 599_999 } }, /retention_time/],
  ] as const) {
    it(`is refused for ${what}`, () => {
      expect(deduplicationViolations(eventType('600', changes))[0]?.message).to.match(reason);
      expect(deduplicationMilliseconds(eventType('600', changes))).to.equal(undefined);
    });
  }

  it('may be as long as events are kept', () => {
    expect(deduplicationViolations(eventType('600', { options: { retention_time: 600_000 } }))).to.deep.equal([]);
  });

  it('is longer than a claim may last', () => {
    expect(deduplicationSecondsMinimum * 1_000).to.be.greaterThan(claimMilliseconds);
  });
});

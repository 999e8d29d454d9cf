import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  deadLetterQueue,
  policyAnnotation,
  policyViolations,
  sendCountAnnotation,
  unprocessableEventPolicy,
} from '../../../src/broker/definitions/unprocessable-events.ts';

const annotated = (sends: string | null, policy: string | null) => ({
  [sendCountAnnotation]: sends,
  [policyAnnotation]: policy,
});

function message(sends: string | null, policy: string | null, eventTypes: readonly string[] = ['loans']) {
  const violations = policyViolations(annotated(sends, policy), eventTypes);
  for (const { field } of violations) expect(field).to.equal('annotations');
  return violations.map((violation) => violation.message).join();
}

describe('the policy for unprocessable events', () => {
  it('is none without annotations, and with other ones', () => {
    for (const annotations of [{}, annotated(null, null), { 'example.org/owner': 'me' }]) {
      expect(policyViolations(annotations, ['loans'])).to.deep.equal([]);
      expect(unprocessableEventPolicy(annotations)).to.equal(undefined);
    }
  });

  it('skips events or keeps them as dead letters', () => {
    expect(unprocessableEventPolicy(annotated('2', 'SKIP_EVENT'))).to.deep.equal({
      sendsMaximum: 2,
      keepsDeadLetters: false,
    });
    expect(unprocessableEventPolicy(annotated('10', 'DEAD_LETTER_QUEUE'))).to.deep.equal({
      sendsMaximum: 10,
      keepsDeadLetters: true,
    });
  });

  it('is stated with both annotations or none', () => {
    const missing = (absent: string, given: string): string => `${absent} must be also set when setting ${given}`;
    expect(message('3', null)).to.equal(missing(policyAnnotation, sendCountAnnotation));
    expect(message(null, 'SKIP_EVENT')).to.equal(missing(sendCountAnnotation, policyAnnotation));
    expect(unprocessableEventPolicy(annotated('3', null))).to.equal(undefined);
    expect(unprocessableEventPolicy(annotated(null, 'SKIP_EVENT'))).to.equal(undefined);
  });

  it('sends an event 2 to 10 times', () => {
    for (const sends of ['2', '10', '+3']) expect(message(sends, 'SKIP_EVENT')).to.equal('');
    for (const sends of ['1', '11', '0', '-2']) {
      expect(message(sends, 'SKIP_EVENT')).to.equal(`${sendCountAnnotation} must be between 2 and 10`);
      expect(unprocessableEventPolicy(annotated(sends, 'SKIP_EVENT'))).to.equal(undefined);
    }
    for (const sends of ['', 'three', '2.5', ' 3', '1234567890']) {
      expect(message(sends, 'SKIP_EVENT')).to.equal(`${sendCountAnnotation} must be an integer`);
    }
  });

  it('is one of two words, in capitals', () => {
    for (const policy of ['', 'skip_event', 'DROP']) {
      expect(message('3', policy)).to.equal(`${policyAnnotation} must be one of: SKIP_EVENT, DEAD_LETTER_QUEUE`);
      expect(unprocessableEventPolicy(annotated('3', policy))).to.equal(undefined);
    }
  });

  it('does not send dead letters to the queue that they came from', () => {
    expect(message('3', 'DEAD_LETTER_QUEUE', ['loans', deadLetterQueue])).to.equal(
      `${policyAnnotation} must not be DEAD_LETTER_QUEUE for a subscription of ${deadLetterQueue} itself`,
    );
    expect(message('3', 'SKIP_EVENT', [deadLetterQueue])).to.equal('');
  });
});

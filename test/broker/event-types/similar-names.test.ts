import { expect } from 'chai';
import { describe, it } from 'mocha';
import { similarNameViolation, topicSpelling } from '../../../src/broker/event-types/similar-names.ts';

describe('confusion', () => {
  const dots = 'is too similar to "a.b_c": names must differ in more than dots and underscores';
  const taken = 'is too similar to "loan_balance_changed", which belongs to the service';
  for (const [name, other, isOfService, message] of [
    ['a.b_c', 'a.b_c', false, undefined],
    ['a_b.c', 'a.b_c', false, dots],
    ['A.b_c', 'a.b_c', false, undefined],
    ['a-b_c', 'a.b_c', false, undefined],
    ['loan_balance_changed', 'loan_balance_changed', true, undefined],
    ['Loan_Balance_Changed', 'loan_balance_changed', true, taken],
    ['loan.balance.changed', 'loan_balance_changed', true, taken],
    ['loan-balance-changed', 'loan_balance_changed', true, taken],
    ['loan_balance_changed2', 'loan_balance_changed', true, undefined],
  ] as const) {
    it(`reports for ${name} beside ${isOfService ? "the service's " : ''}${other}: ${message ?? 'nothing'}`, () => {
      const expected = message === undefined ? undefined : { field: 'name', message };
      expect(similarNameViolation(name, other, isOfService)).to.deep.equal(expected);
    });
  }
});

describe('topicSpelling', () => {
  it('is the same for names that Kafka cannot distinguish', () => {
    expect([topicSpelling('a.b_c'), topicSpelling('a_b.c'), topicSpelling('A-b')]).to.deep.equal([
      'a_b_c',
      'a_b_c',
      'A-b',
    ]);
  });
});

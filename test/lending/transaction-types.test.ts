import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type LoanTransactionType, adjustmentOf, eventNamesOf } from '../../src/lending/transaction-types.ts';
import { loadSchema } from '../../src/schema-files.ts';

/** The values that a schema allows for a field. */
function valuesIn(schema: string, field: string): readonly string[] {
  const { properties } = loadSchema(schema) as {
    readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
  return properties[field]?.enum ?? [];
}

const definitions = loadSchema('common.json')['$defs'] as {
  readonly transactionType: { readonly enum: readonly LoanTransactionType[] };
};
const types = definitions.transactionType.enum;

describe('the types of transactions', () => {
  it('have the names of events that the schema allows, each once', () => {
    const names = types.map((type) => eventNamesOf(type).eventName);
    expect(names).to.deep.equal(valuesIn('events/loan-transaction-posted.json', 'name'));
  });

  it('have the reasons of schedule changes that the schema allows', () => {
    const reasons = new Set(types.map((type) => eventNamesOf(type).scheduleReason));
    // A business day can change it without a transaction.
    const withoutTransaction = ['LATE', 'INTEREST_ACCRUED', 'TOGGLE_SWITCHED'];
    expect(new Set([...reasons, ...withoutTransaction])).to.deep.equal(
      new Set(valuesIn('events/loan-schedule-changed.json', 'reason')),
    );
  });

  it('are each adjusted by one of another type, which is not adjusted', () => {
    const others = types.filter((type) => !type.endsWith('LOCKED'));
    const adjustments = others.flatMap((type) => adjustmentOf(type) ?? []);
    expect(new Set(adjustments).size).to.equal(others.length / 2);
    expect(adjustments.map(adjustmentOf)).to.deep.equal(adjustments.map(() => null));
    expect(adjustments.map((type) => eventNamesOf(type).scheduleReason)).to.deep.equal(
      adjustments.map(() => 'ADJUSTED'),
    );
  });

  it('of locks are taken back by those that end them, and the other way round', () => {
    const locks = types.filter((type) => type.endsWith('LOCKED'));
    expect(locks).to.have.length(6);
    for (const type of locks) {
      const adjustment = adjustmentOf(type) ?? expect.fail(`${type} has no adjustment`);
      expect(adjustmentOf(adjustment)).to.equal(type);
      expect(adjustment.endsWith('_UNLOCKED')).to.equal(!type.endsWith('_UNLOCKED'));
    }
  });

  it('do not include a name of objects in general', () => {
    expect(adjustmentOf('toString' as LoanTransactionType)).to.equal(null);
    expect(() => eventNamesOf('toString' as LoanTransactionType)).to.throw('toString is no type of transaction');
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Decimal } from '../../../src/lending/money.ts';
import { fillRows } from '../../../src/lending/schedule/fill-rows.ts';
import type { RowsToFill } from '../../../src/lending/schedule/fill-rows.ts';
import type { PrincipalPlan } from '../../../src/lending/schedule/principal-plan.ts';
import { amountsOf, monthlyRows, scheduleTerms } from './schedule-terms.ts';

/** Three months at one percent each, so that interest is easy to see. */
function fill(plan: PrincipalPlan, options: Partial<RowsToFill> = {}): string[] {
  const rows = monthlyRows(3);
  const terms = scheduleTerms({ interest: { interestRate: '12' } });
  const [outstanding, amountLent] = [new Decimal(300), new Decimal(600)];
  return amountsOf(fillRows({ terms, rows, outstanding, amountLent, plan, endsWhenRepaid: false, ...options }));
}

function kept(...principals: number[]): PrincipalPlan {
  return { kind: 'KEPT', principals: principals.map((principal) => new Decimal(principal)) };
}

function payments(...amounts: number[]): PrincipalPlan {
  return { kind: 'LEVEL_PAYMENT', payments: amounts.map((amount) => new Decimal(amount)) };
}

function shares(...amounts: string[]): PrincipalPlan {
  return { kind: 'SHARES', shares: amounts.map((amount) => new Decimal(amount)) };
}

describe('filling rows', () => {
  it('charges interest on the balance before each row', () => {
    expect(fill(kept(100, 100, 100))).to.deep.equal(['100.00 3.00', '100.00 2.00', '100.00 1.00']);
  });

  it('charges FLAT interest on the amount lent', () => {
    const terms = scheduleTerms({ interest: { interestRate: '12', interestCalculationMethod: 'FLAT' } });
    expect(fill(kept(100, 100, 100), { terms })).to.deep.equal(['100.00 6.00', '100.00 6.00', '100.00 6.00']);
  });

  it('repays what interest leaves of a payment, but never less than nothing', () => {
    expect(fill(payments(103, 2, 50))).to.deep.equal(['100.00 3.00', '0.00 2.00', '200.00 2.00']);
    expect(fill(payments(1, 103, 50))).to.deep.equal(['0.00 3.00', '100.00 3.00', '200.00 2.00']);
  });

  it('never repays more than the remainder, and continues with empty rows or stops', () => {
    expect(fill(kept(200, 200, 200))).to.deep.equal(['200.00 3.00', '100.00 1.00', '0.00 0.00']);
    expect(fill(kept(200, 200, 200), { endsWhenRepaid: true })).to.deep.equal(['200.00 3.00', '100.00 1.00']);
  });

  it('adds the remainder of the plan to the last row', () => {
    expect(fill(kept(0, 0, 0))).to.deep.equal(['0.00 3.00', '0.00 3.00', '300.00 3.00']);
  });

  it('begins within a period with the interest accrued so far', () => {
    const start = { from: '2023-01-16', accruedInterest: new Decimal('7.5') };
    expect(fill(kept(100, 100, 100), { start })).to.deep.equal(['100.00 9.00', '100.00 2.00', '100.00 1.00']);
  });

  it('rounds the principal, or the total from which it results', () => {
    const rounding = { repaymentElementsRoundingMethod: 'PAYMENT_DUE' } as const;
    const interest = { interestRate: '12' };
    const whole = scheduleTerms({
      interest,
      rounding: { ...rounding, repaymentCurrencyRounding: 'ROUND_TO_NEAREST_WHOLE_UNIT' },
    });
    const exact = shares('99.333', '99.333', '99.333');
    expect(fill(exact)).to.deep.equal(['99.33 3.00', '99.33 2.01', '101.34 1.01']);
    expect(fill(exact, { terms: whole })).to.deep.equal(['99.00 3.00', '98.99 2.01', '102.01 1.02']);
  });

  it('puts the remainder of interest into the last row on request', () => {
    const rounding = {
      roundingRepaymentScheduleMethod: 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
    } as const;
    const interest = { interestRate: '0.56' };
    const own = scheduleTerms({ interest });
    const carried = scheduleTerms({ interest, rounding });
    expect(fill(kept(0, 0, 300), { terms: own })).to.deep.equal(['0.00 0.14', '0.00 0.14', '300.00 0.14']);
    const third = { terms: scheduleTerms({ interest: { interestRate: '0.17' } }) };
    expect(fill(kept(0, 0, 300), third)).to.deep.equal(['0.00 0.04', '0.00 0.04', '300.00 0.04']);
    const thirdCarried = { terms: scheduleTerms({ interest: { interestRate: '0.17' }, rounding }) };
    expect(fill(kept(0, 0, 300), thirdCarried)).to.deep.equal(['0.00 0.04', '0.00 0.04', '300.00 0.05']);
    expect(fill(kept(0, 0, 300), { terms: carried })).to.deep.equal(['0.00 0.14', '0.00 0.14', '300.00 0.14']);
  });
});

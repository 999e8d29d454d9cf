import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  chargeCapOf,
  chargesOf,
  chargesWithinCap,
  isCapReached,
  leftUnderHardCap,
} from '../../../src/lending/business-days/charge-cap.ts';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { addDays } from '../../../src/lending/dates.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';
import {
  type Story,
  applyFee,
  applyPenalty,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  money,
  product,
  reasons,
  repay,
  unlock,
  when,
} from '../loan-fixtures.ts';
import { closedBefore } from './closed-days.ts';

type Kind = 'SOFT_CAP' | 'HARD_CAP';

function capped(cappingConstraintType: Kind, percent: string, more: object = {}): object {
  return {
    penaltySettings: { loanPenaltyCalculationMethod: 'OVERDUE_BALANCE', penaltyRate: { defaultValue: money(1) } },
    internalControls: {
      lockSettings: {
        cappingConstraintType,
        cappingMethod: 'ORIGINAL_PRINCIPAL_PERCENTAGE',
        cappingPercentage: money(percent),
      },
    },
    ...more,
  };
}

/** On 23 February 215.47 and 100.00 of interest are due; each late day has a penalty of 2.15. */
const fixed = (kind: Kind, percent: string, more: object = {}): Story =>
  disbursed(product(capped(kind, percent, more)));

const charged = (story: Story): string => {
  const loan = atBusinessDate(loanOf(story));
  return chargesOf(loan, loan.position).toFixed(2);
};
const seen = (story: Story): unknown[] => [charged(story), loanOf(story).position.accountSubState];

describe('a cap on the charges of an account in arrears', () => {
  it('of the soft kind is passed by the last charge, and locks the account', () => {
    expect(seen(closedBefore(fixed('SOFT_CAP', '10.5'), '2011-02-25'))).to.deep.equal(['104.30', null]);
    const over = closedBefore(fixed('SOFT_CAP', '10.5'), '2011-02-26');
    expect(seen(over)).to.deep.equal(['106.45', 'LOCKED_CAPPING']);
    expect(seen(closedBefore(over, '2011-03-20'))).to.deep.equal(['106.45', 'LOCKED_CAPPING']);
    expect(over.events.findLast((event) => event.eventType === 'loan_state_changed')).to.deep.include({
      name: 'loan_locked',
      accountSubState: 'LOCKED_CAPPING',
    });
  });

  it('of the hard kind cuts the charge to what is left, and locks the account', () => {
    const cut = closedBefore(fixed('HARD_CAP', '10.5'), '2011-02-26');
    expect(seen(cut)).to.deep.equal(['105.00', 'LOCKED_CAPPING']);
    expect(cut.transactions.findLast(({ type }) => type === 'PENALTY_APPLIED')?.amount.toFixed(2)).to.equal('0.70');
    expect(seen(closedBefore(cut, '2011-03-20'))).to.deep.equal(['105.00', 'LOCKED_CAPPING']);
  });

  it('is reached by the cent: the hard one at the cap, the soft one above it', () => {
    expect(seen(closedBefore(fixed('SOFT_CAP', '10.43'), '2011-02-25'))).to.deep.equal(['104.30', null]);
    expect(seen(closedBefore(fixed('SOFT_CAP', '10.429'), '2011-02-25'))).to.deep.equal(['104.30', 'LOCKED_CAPPING']);
    expect(seen(closedBefore(fixed('HARD_CAP', '10.43'), '2011-02-25'))).to.deep.equal(['104.30', 'LOCKED_CAPPING']);
    expect(seen(closedBefore(fixed('HARD_CAP', '10.431'), '2011-02-25'))).to.deep.equal(['104.30', null]);
    expect(seen(closedBefore(fixed('HARD_CAP', '10.431'), '2011-02-26'))).to.deep.equal(['104.31', 'LOCKED_CAPPING']);
    // A part of a cent is nothing that could be charged.
    expect(seen(closedBefore(fixed('HARD_CAP', '10.4309'), '2011-02-25'))).to.deep.equal(['104.30', 'LOCKED_CAPPING']);
  });

  it('binds no account outside arrears, and locks one above it when its arrears begin, without taking anything back', () => {
    const low = closedBefore(fixed('HARD_CAP', '5'), '2011-02-23');
    expect(seen(low)).to.deep.equal(['100.00', null]);
    expect(seen(closedBefore(low, '2011-02-24'))).to.deep.equal(['100.00', 'LOCKED_CAPPING']);
    expect(leftUnderHardCap(loanOf(low), '2011-02-23', alwaysOpen)).to.equal(null);
    expect(leftUnderHardCap(loanOf(low), '2011-02-24', alwaysOpen)?.toFixed(2)).to.equal('0.00');
  });

  it('counts from the outstanding principal when it says so', () => {
    const settings = capped('SOFT_CAP', '12.5') as { readonly internalControls: { readonly lockSettings: object } };
    const { lockSettings } = settings.internalControls;
    const outstanding = {
      ...settings,
      internalControls: { lockSettings: { ...lockSettings, cappingMethod: 'OUTSTANDING_PRINCIPAL_PERCENTAGE' } },
    };
    const story = closedBefore(disbursed(product(outstanding as Partial<LoanProduct>)), '2011-02-26');
    expect(seen(story)).to.deep.equal(['106.45', null]);
    // 190 of principal less leave 810, of which 101.25 are an eighth.
    const parts = [{ customPaymentAmountType: 'PRINCIPAL', amount: money(190) }];
    const paid = when(story, repay(190, '2011-02-26', { customPaymentAmounts: parts }));
    expect(reasons(paid)).to.deep.equal([]);
    expect(nextBusinessDate(loanOf(paid))).to.equal('2011-02-27');
    expect(seen(closedBefore(paid, '2011-02-27'))[1]).to.equal('LOCKED_CAPPING');
  });

  it('refuses a charge by hand above what a hard one leaves, and takes one of just that', () => {
    const story = closedBefore(fixed('HARD_CAP', '10.5'), '2011-02-25');
    const at = { valueDate: '2011-02-25', installmentNumber: 1 };
    expect(reasons(when(story, applyFee('0.71', at)))).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(reasons(when(story, applyPenalty('0.71', at)))).to.deep.equal(['INVALID_AMOUNT amount']);
    const exact = when(story, applyPenalty('0.70', at));
    expect(reasons(exact)).to.deep.equal([]);
    expect(reasons(when(exact, applyFee('0.01', at)))).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(seen(closedBefore(exact, '2011-02-26'))).to.deep.equal(['105.00', 'LOCKED_CAPPING']);
    const soft = closedBefore(fixed('SOFT_CAP', '10.5'), '2011-02-25');
    expect(reasons(when(soft, applyFee('50', at)))).to.deep.equal([]);
  });

  it('binds no more once a person has ended the lock', () => {
    const free = when(closedBefore(fixed('HARD_CAP', '10.5'), '2011-02-26'), unlock('2011-02-26'));
    expect(leftUnderHardCap(loanOf(free), '2011-02-27', alwaysOpen)).to.equal(null);
    expect(seen(closedBefore(free, '2011-02-27'))).to.deep.equal(['107.15', null]);
  });

  it('cuts penalties and fees with the tax in them, row by row, and leaves out what would come to nothing', () => {
    const late = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(10), feeApplication: 'REQUIRED' });
    const taxed = {
      feesSettings: { allowArbitraryFees: true, fees: [late] },
      taxSettings: {
        taxRate: money(20),
        taxCalculationMethod: 'EXCLUSIVE',
        taxesOnInterestEnabled: false,
        taxesOnFeesEnabled: true,
        taxesOnPenaltyEnabled: true,
      },
    };
    // A penalty of 2.15 and 0.43, and a fee of 10.00 and 2.00, on 24 February.
    const ofFee = closedBefore(fixed('HARD_CAP', '10.858', taxed), '2011-02-24');
    expect(seen(ofFee)).to.deep.equal(['108.58', 'LOCKED_CAPPING']);
    const [charge] = ofFee.transactions.filter(({ type }) => type === 'FEE_CHARGED');
    expect([charge?.amount.toFixed(2), charge?.taxes.fees.toFixed(2)]).to.deep.equal(['6.00', '1.00']);
    const ofPenalty = closedBefore(fixed('HARD_CAP', '10.12', taxed), '2011-02-24');
    const [penalty] = ofPenalty.transactions.filter(({ type }) => type === 'PENALTY_APPLIED');
    expect([penalty?.amount.toFixed(2), penalty?.taxes.penalty.toFixed(2)]).to.deep.equal(['1.20', '0.20']);
    expect(ofPenalty.transactions.some(({ type }) => type === 'FEE_CHARGED')).to.equal(false);
    const loan = loanOf(closedBefore(fixed('HARD_CAP', '10.12', taxed), '2011-02-23'));
    const owed = (amount: number): ReturnType<typeof money> => money(amount);
    expect(chargesWithinCap(loan, '2011-02-24', alwaysOpen, [0.7, 0.5, 3], owed)).to.deep.equal([0.7, 0.5]);
    expect(chargesWithinCap(loan, '2011-02-24', alwaysOpen, [0.7, 0.49, 3], owed)).to.deep.equal([0.7, 0.49, 3]);
  });

  it('of the hard kind is not passed by a day of interest, of the soft kind by one', () => {
    // 8.33 on 23 February, 0.28 for each day since, and three days on the 28th, the last one of thirty.
    const settings = (kind: Kind): Story =>
      disbursed(dynamicProduct(capped(kind, '1', { penaltySettings: { loanPenaltyCalculationMethod: 'NONE' } })));
    const dayBefore = closedBefore(settings('HARD_CAP'), '2011-02-26');
    expect(seen(dayBefore)[1]).to.equal(null);
    const hard = closedBefore(settings('HARD_CAP'), '2011-02-27');
    expect(seen(hard)).to.deep.equal(['9.44', 'LOCKED_CAPPING']);
    expect(seen(closedBefore(hard, '2011-05-01'))).to.deep.equal(['9.44', 'LOCKED_CAPPING']);
    const soft = closedBefore(settings('SOFT_CAP'), '2011-02-27');
    expect(seen(soft)[1]).to.equal(null);
    expect(nextBusinessDate(loanOf(soft))).to.equal('2011-02-28');
    expect(seen(closedBefore(soft, '2011-02-28'))).to.deep.equal(['10.27', 'LOCKED_CAPPING']);
    expect(isCapReached(loanOf(soft), '2011-02-27')).to.equal(false);
    expect(isCapReached(loanOf(soft), '2011-02-28')).to.equal(true);
  });

  it('of the hard kind is not passed by a fee for a due date, which is dropped as its day passes', () => {
    const each = fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(10), feeApplication: 'REQUIRED' });
    const story = (percent: string): Story => {
      const settings = {
        penaltySettings: { loanPenaltyCalculationMethod: 'NONE' },
        feesSettings: { allowArbitraryFees: true, fees: [each] },
      };
      return disbursed(dynamicProduct(capped('HARD_CAP', percent, settings)));
    };
    // Of interest 16.66 and of fees 20.00 on 23 March.
    const within = closedBefore(story('3.666'), '2011-03-22');
    expect(seen(within)[1]).to.equal(null);
    expect(seen(closedBefore(within, '2011-03-23'))).to.deep.equal(['36.66', 'LOCKED_CAPPING']);
    expect(seen(closedBefore(story('3.665'), '2011-03-21'))[1]).to.equal(null);
    const beyond = closedBefore(story('3.665'), '2011-03-22');
    expect(seen(beyond)).to.deep.equal(['26.39', 'LOCKED_CAPPING']);
    expect(seen(closedBefore(beyond, '2011-03-24'))).to.deep.equal(['26.39', 'LOCKED_CAPPING']);
  });

  it('is known of a product only with all of its settings', () => {
    expect(chargeCapOf(product())).to.equal(null);
    expect(chargeCapOf(product({ internalControls: { lockSettings: { lockPeriodDays: 3 } } }))).to.equal(null);
    expect(chargeCapOf(product(capped('HARD_CAP', '5')))?.cappingPercentage.toFixed()).to.equal('5');
  });

  it('of the hard kind is never passed in arrears, unless it was when they began', () => {
    const late = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(7), feeApplication: 'REQUIRED' });
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 3_000 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 40 }),
        (hundredths, accrueLateInterest, tolerance) => {
          const percent = money(hundredths).dividedBy(100);
          const settings = capped('HARD_CAP', percent.toFixed(), {
            interestSettings: { interestRate: { defaultValue: money(36) }, accrueLateInterest },
            feesSettings: { allowArbitraryFees: true, fees: [late] },
            arrearsSettings: {
              toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
              tolerancePeriod: { defaultValue: tolerance },
            },
          });
          let story = disbursed(dynamicProduct(settings));
          const first = addDays('2011-02-23', tolerance + 1);
          story = closedBefore(story, first);
          const limit = Math.max(percent.times(10).toNumber(), Number(charged(story)));
          for (let day = first; day < '2011-08-01'; day = addDays(day, 3)) {
            story = closedBefore(story, day);
            expect(Number(charged(story)), day).to.be.at.most(limit);
          }
        },
      ),
      propertyRuns(40),
    );
  });
});

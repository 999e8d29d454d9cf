import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type FeeTrigger, findFee, isChargedByHand, isForDueDates } from '../../../src/lending/products/product.ts';
import { fee, product } from '../loan-fixtures.ts';

describe('a fee of a product', () => {
  it('is found by its id and by its key, and by nothing else', () => {
    const [one, other] = [fee({ id: 'one' }), fee({ id: 'other' })];
    const withBoth = product({ feesSettings: { fees: [one, other] } });
    expect(findFee(withBoth, 'other')).to.equal(other);
    expect(findFee(withBoth, one.encodedKey)).to.equal(one);
    expect(findFee(withBoth, one.name)).to.equal(undefined);
  });

  it('is charged by hand when it is manual or arbitrary, and for due dates by two triggers', () => {
    const triggers: readonly FeeTrigger[] = [
      'MANUAL',
      'ARBITRARY',
      'DISBURSEMENT',
      'CAPITALIZED_DISBURSEMENT',
      'UPFRONT_DISBURSEMENT',
      'PAYMENT_DUE',
      'PAYMENT_DUE_APPLIED_ON_DUE_DATES',
      'LATE_REPAYMENT',
    ];
    expect(triggers.filter((trigger) => isChargedByHand(fee({ id: 'one', trigger })))).to.deep.equal([
      'MANUAL',
      'ARBITRARY',
    ]);
    expect(triggers.filter((trigger) => isForDueDates({ trigger }))).to.deep.equal([
      'PAYMENT_DUE',
      'PAYMENT_DUE_APPLIED_ON_DUE_DATES',
    ]);
  });
});

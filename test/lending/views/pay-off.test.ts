import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { payOffAmountsOf } from '../../../src/lending/views/pay-off.ts';
import { applyFee, disbursed, fee, loanOf, product, texts, under, when } from '../loan-fixtures.ts';

describe('the amounts of a pay-off', () => {
  it('are all that is owed, fees outside the schedule included, and sum to the total', () => {
    const fees = [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })];
    const start = under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed(product({ feesSettings: { fees } })));
    const charged = when(start, applyFee(3, { installmentNumber: 1 }));
    const story = when(charged, applyFee(4, { predefinedFeeKey: 'outside' }));
    const amounts = texts({ ...payOffAmountsOf(figuresOf(loanOf(story))) });
    expect(amounts).to.include({ principalBalance: '1000.00', interestBalance: '261.88', feeBalance: '7.00' });
    expect(amounts).to.include({ totalBalance: '1268.88', interestFromArrearsBalance: '0.00' });
  });
});

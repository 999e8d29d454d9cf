import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scheduleOf } from '../../../src/lending/views/schedules.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { previewInstallments, previewRefusals } from '../../../src/lending/schedule/preview.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { create, disbursed, fee, given, loanOf, money, product } from '../loan-fixtures.ts';

const required = { feeApplication: 'REQUIRED' } as const;
const withFees = product({
  scheduleSettings: { numInstallments: { defaultValue: 12 } },
  feesSettings: {
    fees: [
      fee({ id: 'flat', trigger: 'UPFRONT_DISBURSEMENT', amount: money(150), ...required }),
      fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(50), ...required }),
    ],
  },
});

describe('the preview of a schedule', () => {
  it('has the fees that a disbursement would charge', () => {
    const opened = loanOf(given(create(withFees, 100_000)));
    const rows = scheduleOf(opened, allTogglesOff).installments;
    expect(rows).to.have.length(12);
    expect(rows.slice(0, 2).map((row) => row.fee.amount.expected.toFixed(2))).to.deep.equal(['200.00', '50.00']);
    expect(rows[0]?.dueDate).to.equal('2011-02-20T00:00:00Z');
  });

  it('is not refused where it can be made or is no longer needed', () => {
    expect(previewRefusals(loanOf(given(create(withFees, 100_000))), alwaysOpen)).to.deep.equal([]);
    expect(previewRefusals(loanOf(disbursed(withFees, 100_000)), alwaysOpen)).to.deep.equal([]);
  });

  it('is empty with the reason where the loan cannot be disbursed', () => {
    const fees = [fee({ id: 'dear', trigger: 'DISBURSEMENT', amount: money('1000.01'), ...required })];
    const opened = loanOf(given(create(product({ feesSettings: { fees } }))));
    expect(previewInstallments(opened, alwaysOpen)).to.deep.equal([]);
    expect(previewRefusals(opened, alwaysOpen)).to.deep.equal([
      { errorReason: 'DISBURSEMENT_FEES_EXCEED_LOAN_AMOUNT', errorSource: 'fees' },
    ]);
  });
});

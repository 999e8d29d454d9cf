import type { ReplacingLoan, RestructuringCommand } from '../../lending/commands.ts';
import { zero } from '../../lending/money.ts';
import { type FieldReader, present } from './field-reader.ts';
import { hasEncodedKeyForm, isAccountOrProductId } from './id-forms.ts';
import { type Payload, periodUnits } from './loan-payload.ts';

/** What RESCHEDULE and REFINANCE ask for, still without the product, which is in the registry. */
export type RestructuringPayload = Omit<Payload<RestructuringCommand>, 'newAccountId'> & {
  readonly productTypeKey: string;
  /** Absent: the worker makes one. */
  readonly newAccountId?: string;
};

/** Reads the payload of RESCHEDULE or REFINANCE. With any refusal the result is not to be used. */
export function readRestructuring(reader: FieldReader, type: RestructuringCommand['type']): RestructuringPayload {
  // Nothing of the old account waits to be carried forward: all that is owed is transferred or written off.
  reader.keepEmpty('carryForwardOptions');
  // The account that is replaced keeps its id.
  reader.keepOnly('keepSameAccountId', false);
  const writeOff = reader.object('writeOffAmounts');
  for (const name of ['interestBearingFees', 'interestBearingFeesInterest', 'interestFromArrears']) {
    writeOff.keepOnly(name, 0);
  }
  const account = reader.object('loanAccount');
  reader.require('loanAccount', reader.has('loanAccount') ? account : undefined);
  const disbursement = account.object('disbursementDetails');
  const isRefinance = type === 'REFINANCE';
  if (isRefinance) disbursement.keepEmpty('fees');
  const valueDate = isRefinance ? disbursement.date('expectedDisbursementDate') : undefined;
  const newAccountId = account.text('id');
  if (newAccountId !== undefined && (!isAccountOrProductId(newAccountId) || hasEncodedKeyForm(newAccountId))) {
    account.refuse('id');
  }
  const topUpAmount = isRefinance ? reader.require('topUpAmount', reader.decimal('topUpAmount')) : undefined;
  return {
    productTypeKey: account.require('productTypeKey', account.text('productTypeKey')) ?? '',
    account: readReplacingLoan(account, disbursement, isRefinance),
    writeOffAmounts: present({
      principal: isRefinance ? undefined : writeOff.decimal('principal'),
      interest: writeOff.decimal('interest'),
      fee: writeOff.decimal('fee'),
      penalty: writeOff.decimal('penalty'),
    }),
    topUpAmount: topUpAmount ?? zero,
    ...present({ newAccountId, valueDate }),
  };
}

function readReplacingLoan(account: FieldReader, disbursement: FieldReader, isRefinance: boolean): ReplacingLoan {
  account.ignore('encodedKey');
  account.keepEmpty('guarantors');
  if (!isRefinance) account.keepOnly('interestCommission', 0);
  const arrears = account.object('accountArrearsSettings');
  arrears.keepOnly('tolerancePercentageOfOutstandingPrincipal', 0);
  const interest = account.object('interestSettings');
  interest.keepEmpty('accountInterestRateSettings', 'pmtAdjustmentThreshold');
  interest.keepOnly('interestSpread', 0);
  const principal = account.object('principalPaymentSettings');
  for (const name of ['amount', 'percentage']) principal.keepOnly(name, 0);
  const schedule = account.object('scheduleSettings');
  for (const name of ['amortizationPeriod', 'periodicPayment']) schedule.keepOnly(name, 0);
  schedule.keepEmpty('billingCycleDays', 'paymentPlan', 'previewSchedule');
  const firstRepaymentDate = disbursement.require('firstRepaymentDate', disbursement.date('firstRepaymentDate'));
  return present({
    firstRepaymentDate,
    loanName: account.text('loanName'),
    notes: account.notes('notes'),
    interestRate: interest.decimal('interestRate'),
    penaltyRate: account.object('penaltySettings').decimal('penaltyRate'),
    arrearsTolerancePeriod: arrears.count('tolerancePeriod'),
    repaymentInstallments: schedule.count('repaymentInstallments'),
    repaymentPeriodCount: schedule.count('repaymentPeriodCount'),
    repaymentPeriodUnit: schedule.choice('repaymentPeriodUnit', periodUnits),
    gracePeriod: schedule.count('gracePeriod'),
    fixedDaysOfMonth: schedule.counts('fixedDaysOfMonth'),
  });
}

import type { CreateLoan } from '../../lending/commands.ts';
import { zero } from '../../lending/money.ts';
import { type RepeatedSetting, repeatedSettingPaths } from '../../lending/products/repeated-settings.ts';
import { type FieldReader, present } from './field-reader.ts';
import { hasEncodedKeyForm } from './id-forms.ts';

/** The payload of a command, without its header; the fields are those of the REST body. */
export type Payload<Command> = Omit<
  Command,
  'type' | 'commandId' | 'digest' | 'receivedAt' | 'loanAccountId' | 'product'
>;

/** A requested account, and the key or id of the product to open it under. */
export type CreateLoanPayload = Payload<CreateLoan> & { readonly productTypeKey: string };

/** What a response says of the past of an account. Clients may send it back; it changes nothing. */
const pastFields = [
  'encodedKey',
  'accountState',
  'accountSubState',
  'accruedInterest',
  'accruedPenalty',
  'activationTransactionKey',
  'approvedDate',
  'balances',
  'closedDate',
  'creationDate',
  'daysInArrears',
  'daysLate',
  'futurePayments',
  'interestAccruedInBillingCycle',
  'interestFromArrearsAccrued',
  'lastAccountAppraisalDate',
  'lastInterestAppliedDate',
  'lastInterestReviewDate',
  'lastLockedDate',
  'lastModifiedDate',
  'lastSetToArrearsDate',
  'lastTaxRateReviewDate',
  'lockedOperations',
  'originalAccountKey',
  'paymentHolidaysAccruedInterest',
  'rescheduledAccountKey',
  'terminationDate',
];

const pastPaths = new Set([
  ...pastFields,
  'id',
  'currency',
  'disbursementDetails/disbursementDate',
  'disbursementDetails/encodedKey',
  'interestSettings/effectiveInterestRate',
  'scheduleSettings/hasCustomSchedule',
]);

/** Whether a path of an account leads to something that only commands on the account change. */
export function isPastField(path: readonly string[]): boolean {
  return pastPaths.has(path[0] ?? '') || pastPaths.has(path.slice(0, 2).join('/'));
}

export const periodUnits = ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'] as const;
const holderTypes = ['CLIENT', 'GROUP'] as const;

/** Reads the payload of CREATE_LOAN. The reader collects the refusals; with any, the result is not to be used. */
export function readCreateLoan(reader: FieldReader, loanAccountId: string): CreateLoanPayload {
  const id = reader.text('id');
  if ((id !== undefined && id !== loanAccountId) || hasEncodedKeyForm(loanAccountId)) reader.refuse('id');
  reader.ignore(...pastFields);
  const interest = reader.object('interestSettings');
  const schedule = reader.object('scheduleSettings');
  const disbursement = reader.object('disbursementDetails');
  const penalty = reader.object('penaltySettings');
  const repeatedSettings = readRepeatedSettings(reader, {
    interestSettings: interest,
    scheduleSettings: schedule,
    penaltySettings: penalty,
  });
  const disbursementFees = readDisbursementFees(disbursement);
  keepWhatIsOff(reader, interest, schedule, disbursement);
  keepSecurities(reader);
  reader.keepFieldSets();
  disbursement.keepFieldSets();
  const payload = {
    productTypeKey: reader.require('productTypeKey', reader.text('productTypeKey')) ?? '',
    loanAmount: reader.require('loanAmount', reader.decimal('loanAmount')) ?? zero,
    ...present({
      loanName: reader.text('loanName'),
      accountHolderKey: reader.text('accountHolderKey'),
      accountHolderType: reader.choice('accountHolderType', holderTypes),
      interestRate: interest.decimal('interestRate'),
      repaymentInstallments: schedule.count('repaymentInstallments'),
      repaymentPeriodCount: schedule.count('repaymentPeriodCount'),
      repaymentPeriodUnit: schedule.choice('repaymentPeriodUnit', periodUnits),
      gracePeriod: schedule.count('gracePeriod'),
      principalRepaymentInterval: schedule.count('principalRepaymentInterval'),
      firstRepaymentDueDateOffset: schedule.count('defaultFirstRepaymentDueDateOffset'),
      fixedDaysOfMonth: schedule.counts('fixedDaysOfMonth'),
      expectedDisbursementDate: disbursement.date('expectedDisbursementDate'),
      firstRepaymentDate: disbursement.date('firstRepaymentDate'),
      penaltyRate: penalty.decimal('penaltyRate'),
      disbursementFees,
      arrearsTolerancePeriod: reader.count('arrearsTolerancePeriod'),
      notes: reader.notes('notes'),
    }),
  };
  return { ...payload, repeatedSettings, additionalFields: reader.keptFields() };
}

/** An empty list is kept, to be given back. */
function readDisbursementFees(disbursement: FieldReader): CreateLoanPayload['disbursementFees'] | undefined {
  const fees = disbursement.objects('fees').map((fee) => {
    fee.ignore('encodedKey');
    return {
      predefinedFeeKey: fee.require('predefinedFeeEncodedKey', fee.text('predefinedFeeEncodedKey')) ?? '',
      ...present({ amount: fee.decimal('amount'), percentage: fee.decimal('percentage') }),
    };
  });
  if (fees.length > 0) return fees;
  disbursement.keepEmptyList('fees');
  return undefined;
}

/** @param groups The readers of objects that are read for other fields too. */
function readRepeatedSettings(
  reader: FieldReader,
  groups: Readonly<Record<string, FieldReader>>,
): readonly RepeatedSetting[] {
  const readers = new Map(Object.entries(groups));
  const settings = repeatedSettingPaths.flatMap((path) => {
    const [group = '', name] = path.split('.');
    if (name !== undefined && !readers.has(group)) readers.set(group, reader.object(group));
    const text = name === undefined ? reader.written(group) : readers.get(group)?.written(name);
    return text === undefined ? [] : [{ path, text }];
  });
  readers.get('accountArrearsSettings')?.ignore('encodedKey');
  return settings;
}

/** Settings of what does not exist here are kept while they are off; any other value is refused. */
function keepWhatIsOff(
  reader: FieldReader,
  interest: FieldReader,
  schedule: FieldReader,
  disbursement: FieldReader,
): void {
  reader.keepText('assignedBranchKey', 'assignedCentreKey', 'assignedUserKey', 'migrationEventKey');
  reader.keepOnly('adjustTotalDueForInstallmentsWithDifferentInterval', false);
  reader.keepOnly('interestCommission', 0);
  reader.keepEmpty('feesSettings', 'fundingSources', 'plannedInstallmentFees', 'tranches');
  reader.object('redrawSettings').keepOnly('restrictNextDueWithdrawal', false);
  const principal = reader.object('principalPaymentSettings');
  for (const name of ['includeFeesInFloorAmount', 'includeInterestInFloorAmount']) principal.keepOnly(name, false);

  interest.ignore('effectiveInterestRate');
  interest.keepEmpty('accountInterestRateSettings', 'pmtAdjustmentThreshold');
  for (const name of ['interestRateReviewCount', 'interestSpread']) interest.keepOnly(name, 0);

  schedule.ignore('hasCustomSchedule');
  for (const name of ['amortizationPeriod', 'periodicPayment']) schedule.keepOnly(name, 0);
  schedule.keepEmpty('billingCycle', 'paymentPlan', 'previewSchedule');

  disbursement.ignore('disbursementDate', 'encodedKey');
  const channel = disbursement.object('transactionDetails');
  channel.ignore('encodedKey');
  channel.keepText('transactionChannelId', 'transactionChannelKey');
  channel.keepOnly('internalTransfer', false);
}

/** What stands for the loan: kept and given back, where the product allows it. */
function keepSecurities(reader: FieldReader): void {
  for (const [list, required] of [
    ['assets', ['assetName']],
    ['guarantors', ['guarantorKey', 'guarantorType']],
  ] as const) {
    for (const security of reader.objects(list)) {
      security.keepText('assetName', 'depositAccountKey', 'encodedKey', 'guarantorKey');
      security.choice('guarantorType', holderTypes);
      security.keepText('guarantorType');
      for (const name of required) security.require(name, security.text(name));
      security.require('amount', security.decimal('amount'));
      security.keepDecimal('amount');
      if (list === 'assets') security.keepDecimal('originalAmount');
      if (list === 'assets') security.object('originalCurrency').keepText('code', 'currencyCode');
      security.keepFieldSets();
    }
  }
}

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type SchemaValidator, compileValidator } from '../../src/broker/schemas/schema-validator.ts';
import {
  type CommandType,
  type PreparedCommand,
  prepareCommand,
  readPayload,
  commandTypes,
  parseCommand,
  idFieldOf,
  writeCommand,
} from '../../src/lending-format/command-format.ts';
import type { Refusal } from '../../src/lending/refusals.ts';
import { refusalsMaximum } from '../../src/lending-format/payloads/field-reader.ts';
import { lendingSchema } from '../../src/lending-format/self-contained-schema.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';

const commandId = '0f9d4cde-6a3c-4c5f-9c5a-0d8a6f8f7a11';
const source = { partition: 1, offset: 7, appendedAt: 1_000 };
const schema = lendingSchema('commands/loan-command.json');
const validate = compileValidator(schema);
/** As the service compiles its own schemas. */
const validateOnDemand = compileValidator(schema, { isKnownValid: true });
const [findFirst, findFirstOnDemand] = [false, true].map((isKnownValid) =>
  compileValidator(schema, { allViolations: false, isKnownValid }),
) as [SchemaValidator, SchemaValidator];

function prepared(type: CommandType, id: string, payloadText: string): PreparedCommand {
  return prepareCommand({ commandId, type, [idFieldOf(type)]: id, payload: readPayload(payloadText), receivedAt: 0 });
}

/** The command as a producer would send it. */
function written(type: CommandType, payloadText: string): string {
  const id = idFieldOf(type) === 'loanProductId' ? 'p1' : 'L1';
  const { eid, occurredAt, fieldsText } = writeCommand(prepared(type, id, payloadText));
  return `{"metadata":${JSON.stringify({ eid, occurred_at: occurredAt })},${fieldsText}}`;
}

/** The invalid fields of a command. */
function checkPayload(type: CommandType, payloadText: string, id: string): readonly Refusal[] {
  return prepared(type, id, payloadText).refusals;
}

const parse = (text: string) => parseCommand(Buffer.from(text), source);

/** The kinds of commands that are not about a loan. */
const kinds: Readonly<Partial<Record<CommandType, string>>> = {
  UPDATE_LOAN: 'loan change',
  RESCHEDULE: 'restructuring',
  REFINANCE: 'restructuring',
  CREATE_PRODUCT: 'product',
  UPDATE_PRODUCT: 'product',
  PATCH_PRODUCT: 'product',
  DELETE_PRODUCT: 'product',
};

interface Case {
  readonly type: CommandType;
  readonly payload: string;
  /** The paths of the refused fields; empty when the payload is valid. */
  readonly wrong: readonly (string | null)[];
}

const cases: Case[] = [
  { type: 'CREATE_LOAN', payload: '{"productTypeKey":"p1","loanAmount":1000}', wrong: [] },
  {
    type: 'CREATE_LOAN',
    payload: `{"id":"L1","productTypeKey":"p1","loanAmount":1000.50,"loanName":null,"notes":"x","accountHolderKey":"c",
      "accountHolderType":"CLIENT","interestSettings":{"interestRate":5.25},"scheduleSettings":{"repaymentInstallments":4,
      "repaymentPeriodCount":1,"gracePeriod":0,"principalRepaymentInterval":1,"defaultFirstRepaymentDueDateOffset":3,
      "fixedDaysOfMonth":[1,15]},"disbursementDetails":{"expectedDisbursementDate":"2026-01-12T00:00:00+01:00",
      "firstRepaymentDate":"2026-02-12"},"penaltySettings":{"penaltyRate":0.5}}`,
    wrong: [],
  },
  { type: 'CREATE_LOAN', payload: '{}', wrong: ['loanAmount', 'productTypeKey'] },
  {
    type: 'CREATE_LOAN',
    payload: '{"productTypeKey":"p1","loanAmount":"1,000","interestSettings":{"interestRate":true}}',
    wrong: ['interestSettings.interestRate', 'loanAmount'],
  },
  {
    type: 'CREATE_LOAN',
    payload: '{"productTypeKey":"p1","loanAmount":1,"scheduleSettings":{"repaymentInstallments":1.5,"gracePeriod":-1}}',
    wrong: ['scheduleSettings.gracePeriod', 'scheduleSettings.repaymentInstallments'],
  },
  {
    type: 'CREATE_LOAN',
    payload: '{"productTypeKey":"p1","loanAmount":1,"scheduleSettings":[],"tranches":[{"amount":1}]}',
    wrong: ['scheduleSettings', 'tranches'],
  },
  {
    type: 'CREATE_LOAN',
    payload: `{"productTypeKey":"p1","loanAmount":"1500000","assignedBranchKey":"b","assignedUserKey":"","allowOffset":false,
      "accountState":"APPROVED","balances":{"principalDue":7},"creationDate":"2026-01-12T10:00:00Z","encodedKey":"x",
      "currency":{"code":"EUR","currencyCode":"EUR"},"tranches":[],"fundingSources":[],"taxRate":"0",
      "interestSettings":{"interestRate":"12.5","interestSpread":0.0,"interestRateSource":"FIXED_INTEREST_RATE",
      "accrueInterestAfterMaturity":"false","accountInterestRateSettings":[]},"redrawSettings":{"restrictNextDueWithdrawal":false},
      "scheduleSettings":{"repaymentPeriodUnit":"MONTHS","periodicPayment":0.0,"paymentPlan":[],"hasCustomSchedule":true,
      "gracePeriod":"0","repaymentScheduleMethod":"DYNAMIC"},"disbursementDetails":{"fees":[],"_disb":{"purpose":"CAR"},
      "transactionDetails":{"transactionChannelId":"cash","internalTransfer":false}},"accountArrearsSettings":{"encodedKey":"x"},
      "assets":[{"assetName":"Car","amount":"900.50","_car":{"age":3}}],"_additional":{"is_secure":"FALSE"},
      "guarantors":[{"guarantorKey":"g","guarantorType":"CLIENT","amount":1,"assetName":"x"}],"_rows":[{"amount":445.0}]}`,
    wrong: [],
  },
  {
    type: 'CREATE_LOAN',
    payload: `{"productTypeKey":"p1","loanAmount":1,"settlementAccountKey":"k","creditArrangementKey":"k","name":"x",
      "interestSettings":{"interestSpread":0.5,"interestRateReviewCount":31,"accountInterestRateSettings":[{"interestRate":1}]},
      "scheduleSettings":{"periodicPayment":10,"paymentPlan":[{"amount":1,"toInstallment":2}],"repaymentPeriodUnit":"HOURS"},
      "redrawSettings":{"restrictNextDueWithdrawal":true},"disbursementDetails":{"fees":[{"amount":1}],
      "transactionDetails":{"targetDepositAccountKey":"k"}},"guarantors":[{"amount":1}],"arrearsTolerancePeriod":-3}`,
    wrong: [
      'arrearsTolerancePeriod',
      'creditArrangementKey',
      'disbursementDetails.fees[0].predefinedFeeEncodedKey',
      'disbursementDetails.transactionDetails.targetDepositAccountKey',
      'guarantors[0].guarantorKey',
      'guarantors[0].guarantorType',
      'interestSettings.accountInterestRateSettings',
      'interestSettings.interestRateReviewCount',
      'interestSettings.interestSpread',
      'name',
      'redrawSettings.restrictNextDueWithdrawal',
      'scheduleSettings.paymentPlan',
      'scheduleSettings.periodicPayment',
      'scheduleSettings.repaymentPeriodUnit',
      'settlementAccountKey',
    ],
  },
  { type: 'CHANGE_STATE', payload: '{"action":"APPROVE","notes":"fine"}', wrong: [] },
  { type: 'CHANGE_STATE', payload: '{"action":"approve"}', wrong: ['action'] },
  { type: 'CHANGE_STATE', payload: '{"notes":""}', wrong: ['action'] },
  { type: 'DISBURSE', payload: '{}', wrong: [] },
  {
    type: 'DISBURSE',
    payload:
      '{"valueDate":"2026-01-12","firstRepaymentDate":"2026-02-12","fees":[{"predefinedFeeKey":"f","amount":5}]}',
    wrong: [],
  },
  { type: 'DISBURSE', payload: '{"valueDat":"2026-01-12"}', wrong: ['valueDat'] },
  { type: 'DISBURSE', payload: '{"fees":[{"amount":5,"sum":1}]}', wrong: ['fees[0].predefinedFeeKey', 'fees[0].sum'] },
  { type: 'DISBURSE', payload: '{"valueDate":"12.01.2026"}', wrong: ['valueDate'] },
  {
    type: 'REPAY',
    payload: '{"amount":315.47,"valueDate":"2026-02-12","transactionDetails":{"transactionChannelId":"cash"}}',
    wrong: [],
  },
  {
    type: 'DISBURSE',
    payload: '{"transactionDetails":{"transactionChannelId":"nope","targetDepositAccountKey":"deadbeef"}}',
    wrong: ['transactionDetails.targetDepositAccountKey'],
  },
  {
    type: 'REPAY',
    payload: `{"amount":1,"transactionDetails":{"transactionChannelKey":"${'k'.repeat(257)}","internalTransfer":true}}`,
    wrong: ['transactionDetails.internalTransfer', 'transactionDetails.transactionChannelKey'],
  },
  { type: 'REPAY', payload: '{"amount":1,"transactionDetails":"cash"}', wrong: ['transactionDetails'] },
  { type: 'REPAY', payload: '{"amount":1,"transferDetails":{"linkedAccountKey":"k"}}', wrong: ['transferDetails'] },
  { type: 'REPAY', payload: '{"amount":1,"originalCurrencyCode":"USD"}', wrong: [] },
  {
    type: 'REPAY',
    payload: '{"amount":"5.11","externalId":"MK1","notes":"","principalOverpaymentAmount":0}',
    wrong: [],
  },
  { type: 'REPAY', payload: '{"amount":1,"principalOverpaymentAmount":0.01}', wrong: ['principalOverpaymentAmount'] },
  {
    type: 'DISBURSE',
    payload: '{"amount":500,"shiftAdjustableInterestPeriods":"false","transferDetails":{}}',
    wrong: [],
  },
  { type: 'DISBURSE', payload: '{"shiftAdjustableInterestPeriods":true}', wrong: ['shiftAdjustableInterestPeriods'] },
  { type: 'DISBURSE', payload: '{"transferDetails":{"linkedAccountKey":"k"}}', wrong: ['transferDetails'] },
  { type: 'DISBURSE', payload: '{"fees":[{"predefinedFeeKey":"f","percentage":"2.5"}]}', wrong: [] },
  {
    type: 'DISBURSE',
    payload: '{"_Card":{"mcc":5655,"advice":false,"with space":"two"},"_lines":[{"a":"1"},{"b":2.50,"_index":"1"}]}',
    wrong: [],
  },
  {
    type: 'REPAY',
    payload: '{"amount":1,"_set":{"a":"","b":null,"c":" ","d":["x"],"e":1},"_lines":[{"a":{}}],"_word":"x"}',
    wrong: ['_lines[0].a', '_set.a', '_set.b', '_set.c', '_set.d', '_word'],
  },
  { type: 'APPLY_FEE', payload: '{"amount":"11.46","installmentNumber":"3","feeCapitalisation":false}', wrong: [] },
  { type: 'ADJUST_TRANSACTION', payload: '{"transactionId":"L1-1","installments":[]}', wrong: [] },
  { type: 'ADJUST_TRANSACTION', payload: '{"transactionId":"L1-1","installments":[{}]}', wrong: ['installments'] },
  { type: 'APPLY_FEE', payload: '{"amount":1,"feeCapitalisation":true}', wrong: ['feeCapitalisation'] },
  {
    type: 'CREATE_PRODUCT',
    payload: JSON.stringify({ ...annuityProduct('p1'), currency: { code: 'EUR', currencyCode: 'EUR', digits: 2 } }),
    wrong: [],
  },
  {
    type: 'REPAY',
    payload:
      '{"amount":10,"customPaymentAmounts":[{"customPaymentAmountType":"INTEREST","amount":10}],"externalId":"e"}',
    wrong: [],
  },
  {
    type: 'REPAY',
    payload: '{"customPaymentAmounts":[{"customPaymentAmountType":"TIP"}],"prepaymentRecalculationMethod":"SOMEHOW"}',
    wrong: [
      'amount',
      'customPaymentAmounts[0].amount',
      'customPaymentAmounts[0].customPaymentAmountType',
      'prepaymentRecalculationMethod',
    ],
  },
  ...['[0,1,31,10000]', '[-1]', '[1,10001]', '[1.5]', '["1","x"]', '[null]'].map((days, index) => ({
    type: 'CREATE_LOAN' as const,
    payload: `{"scheduleSettings":{"fixedDaysOfMonth":${days}},"productTypeKey":"p","loanAmount":1}`,
    wrong: index === 0 ? [] : ['scheduleSettings.fixedDaysOfMonth'],
  })),
  { type: 'APPLY_FEE', payload: '{"amount":50,"installmentNumber":1,"predefinedFeeKey":"f"}', wrong: [] },
  { type: 'APPLY_FEE', payload: '{"amount":null}', wrong: [] },
  { type: 'APPLY_FEE', payload: '{"installmentNumber":"1st"}', wrong: ['installmentNumber'] },
  { type: 'APPLY_PENALTY', payload: '{"amount":0.13,"installmentNumber":2}', wrong: [] },
  { type: 'APPLY_PENALTY', payload: '{"amount":null}', wrong: ['amount'] },
  { type: 'ADJUST_TRANSACTION', payload: '{"transactionId":"L1-1","notes":"wrong"}', wrong: [] },
  { type: 'ADJUST_TRANSACTION', payload: '{"bookingDate":"2026-01-12"}', wrong: ['transactionId'] },
  {
    type: 'PRINCIPAL_OVERPAYMENT',
    payload: '{"amount":100,"prepaymentRecalculationMethod":"NO_RECALCULATION"}',
    wrong: [],
  },
  { type: 'PRINCIPAL_OVERPAYMENT', payload: '{}', wrong: ['amount'] },
  {
    type: 'APPLY_INTEREST',
    payload: '{"interestApplicationDate":"2026-02-12T00:00:00+01:00","isPaymentHolidaysInterest":false,"notes":"n"}',
    wrong: [],
  },
  { type: 'APPLY_INTEREST', payload: '{"notes":"n"}', wrong: ['interestApplicationDate'] },
  {
    type: 'APPLY_INTEREST',
    payload:
      '{"interestApplicationDate":"2026-02-12","isInterestFromArrears":true,"paymentHolidaysInterestAmount":1,"valueDate":null}',
    wrong: ['isInterestFromArrears', 'paymentHolidaysInterestAmount', 'valueDate'],
  },
  { type: 'START_BUSINESS_DAY', payload: '{"businessDate":"2026-01-12"}', wrong: [] },
  { type: 'START_BUSINESS_DAY', payload: '{"businessDate":"12.01.2026"}', wrong: ['businessDate'] },
  { type: 'START_BUSINESS_DAY', payload: '{}', wrong: ['businessDate'] },
  { type: 'PAY_OFF', payload: '{"notes":"Prueba Pago Total"}', wrong: [] },
  {
    type: 'PAY_OFF',
    payload: `{"externalId":"e","transactionDetails":{"transactionChannelId":"cash"},"payOffAdjustableAmounts":
      {"interestPaid":1.5,"feesPaid":0,"penaltyPaid":2,"nonScheduledFeeAmount":3,"interestFromArrearsPaid":0}}`,
    wrong: [],
  },
  {
    type: 'PAY_OFF',
    payload: '{"valueDate":"2026-02-12","payOffAdjustableAmounts":{"interestFromArrearsPaid":1,"principalPaid":1}}',
    wrong: ['payOffAdjustableAmounts.interestFromArrearsPaid', 'payOffAdjustableAmounts.principalPaid', 'valueDate'],
  },
  { type: 'REDUCE_INTEREST', payload: '{"amount":1.5,"valueDate":"2026-02-12","installmentNumber":2}', wrong: [] },
  { type: 'REDUCE_FEES', payload: '{"amount":1.5,"externalId":"e"}', wrong: [] },
  { type: 'REDUCE_PENALTIES', payload: '{"predefinedFeeKey":"f"}', wrong: ['amount', 'predefinedFeeKey'] },
  { type: 'WRITE_OFF', payload: '{"notes":"lost"}', wrong: [] },
  { type: 'WRITE_OFF', payload: '{"amount":1}', wrong: ['amount'] },
  { type: 'UNDO_WRITE_OFF', payload: '{}', wrong: [] },
  { type: 'REFUND', payload: '{"amount":1.5,"linkedDisbursementKey":"k","externalId":"e"}', wrong: [] },
  {
    type: 'REFUND',
    payload: '{"prepaymentRecalculationMethod":"NO_RECALCULATION"}',
    wrong: ['amount', 'linkedDisbursementKey', 'prepaymentRecalculationMethod'],
  },
  { type: 'TERMINATE', payload: '{"valueDate":"2026-02-12","notes":"late"}', wrong: [] },
  { type: 'RECALCULATE_DUE_DATES', payload: '{"notes":"new holiday"}', wrong: [] },
  { type: 'RECALCULATE_DUE_DATES', payload: '{"valueDate":"2026-02-12"}', wrong: ['valueDate'] },
  { type: 'ERASE_PERSONAL_DATA', payload: '{}', wrong: [] },
  { type: 'ERASE_PERSONAL_DATA', payload: '{"notes":"because"}', wrong: ['notes'] },
  {
    type: 'RESCHEDULE',
    payload: `{"loanAccount":{"id":"n","productTypeKey":"p","loanName":"New","notes":"x","guarantors":[],
      "disbursementDetails":{"firstRepaymentDate":"2026-03-12"},"interestSettings":{"interestRate":3.5},
      "penaltySettings":{"penaltyRate":1},"accountArrearsSettings":{"tolerancePeriod":3},
      "scheduleSettings":{"repaymentInstallments":9,"repaymentPeriodCount":1,"repaymentPeriodUnit":"MONTHS"}},
      "writeOffAmounts":{"principal":1,"interest":2,"fee":3,"penalty":4,"interestFromArrears":0},"keepSameAccountId":false}`,
    wrong: [],
  },
  {
    type: 'RESCHEDULE',
    payload: `{"topUpAmount":1,"loanAccount":{"disbursementDetails":{"fees":[]},"loanAmount":5},"keepSameAccountId":true}`,
    wrong: [
      'keepSameAccountId',
      'loanAccount.disbursementDetails.fees',
      'loanAccount.disbursementDetails.firstRepaymentDate',
      'loanAccount.loanAmount',
      'loanAccount.productTypeKey',
      'topUpAmount',
    ],
  },
  {
    type: 'REFINANCE',
    payload: `{"topUpAmount":0,"loanAccount":{"productTypeKey":"p",
      "disbursementDetails":{"expectedDisbursementDate":"2026-02-12","firstRepaymentDate":"2026-03-12"}}}`,
    wrong: [],
  },
  {
    type: 'REFINANCE',
    payload: `{"writeOffAmounts":{"principal":1},"loanAccount":{"id":"${'a'.repeat(32)}","productTypeKey":"p",
      "disbursementDetails":{"firstRepaymentDate":"2026-03-12"}}}`,
    wrong: ['loanAccount.id', 'topUpAmount', 'writeOffAmounts.principal'],
  },
  { type: 'UNDO_RESCHEDULE', payload: '{"notes":"wrong"}', wrong: [] },
  { type: 'UNDO_REFINANCE', payload: '{"valueDate":"2026-02-12"}', wrong: ['valueDate'] },
  { type: 'TERMINATE', payload: '{"bookingDate":"2026-02-12"}', wrong: ['bookingDate', 'valueDate'] },
  { type: 'CHANGE_STATE', payload: '{"action":"CLOSE"}', wrong: [] },
  { type: 'CHANGE_STATE', payload: '{"action":"UNDO_CLOSE"}', wrong: [] },
  {
    type: 'LOCK',
    payload: '{"lockedOperations":["APPLY_FEES","APPLY_INTEREST"],"lockedAccountTotalDueType":"BALANCE_AMOUNT"}',
    wrong: [],
  },
  { type: 'LOCK', payload: '{"notes":"dispute"}', wrong: [] },
  {
    type: 'LOCK',
    payload:
      '{"lockedOperations":["APPLY_FEES","REPAY"],"lockedAccountTotalDueType":"DUE_AMOUNT_ON_LATE_INSTALLMENTS"}',
    wrong: ['lockedAccountTotalDueType', 'lockedOperations'],
  },
  { type: 'UNLOCK', payload: '{"notes":"settled"}', wrong: [] },
  { type: 'UNLOCK', payload: '{"lockedOperations":[]}', wrong: ['lockedOperations'] },
  { type: 'UPDATE_LOAN', payload: '{"operations":[{"op":"add","path":"_set","value":{"a":1}}]}', wrong: [] },
  { type: 'UPDATE_LOAN', payload: '{"operations":[{"op":"REMOVE","path":"/notes"}]}', wrong: [] },
  { type: 'UPDATE_LOAN', payload: '{"account":{"productTypeKey":"p1","loanAmount":1}}', wrong: [] },
  { type: 'UPDATE_LOAN', payload: '{"account":{"productTypeKey":"p1","loanAmount":1,"name":"x"}}', wrong: ['name'] },
  { type: 'UPDATE_LOAN', payload: '{"operations":[{"op":"TEST","path":"/notes"}]}', wrong: ['/notes'] },
  { type: 'UPDATE_LOAN', payload: '{"operations":[{"op":"REMOVE"}]}', wrong: ['[0].path'] },
  { type: 'UPDATE_LOAN', payload: '{"operations":[]}', wrong: ['operations'] },
  { type: 'UPDATE_LOAN', payload: '{"operations":{}}', wrong: ['operations'] },
  { type: 'UPDATE_LOAN', payload: '{"notes":"x"}', wrong: ['notes'] },
  { type: 'UPDATE_LOAN', payload: '{}', wrong: ['payload'] },
  { type: 'DELETE_LOAN', payload: '{}', wrong: [] },
  { type: 'DELETE_LOAN', payload: '{"notes":"x"}', wrong: ['notes'] },
  { type: 'CREATE_PRODUCT', payload: JSON.stringify(annuityProduct('p1')), wrong: [] },
  { type: 'UPDATE_PRODUCT', payload: JSON.stringify({ ...annuityProduct('p1'), version: 2 }), wrong: [] },
  { type: 'UPDATE_PRODUCT', payload: '{}', wrong: ['type', 'name', 'currency.code'] },
  {
    type: 'UPDATE_PRODUCT',
    payload: JSON.stringify({ ...annuityProduct('p2'), state: 'GONE' }),
    wrong: ['id', 'state'],
  },
  {
    type: 'PATCH_PRODUCT',
    payload: '{"operations":[{"op":"REPLACE","path":"/state","value":"INACTIVE"},{"op":"remove","path":"notes"}]}',
    wrong: [],
  },
  { type: 'PATCH_PRODUCT', payload: '{}', wrong: ['operations'] },
  { type: 'PATCH_PRODUCT', payload: '{"operations":[]}', wrong: ['operations'] },
  {
    type: 'PATCH_PRODUCT',
    payload: '{"operations":[5,{"op":"COPY","path":"x"}]}',
    wrong: ['operations[0]', 'operations[1].op'],
  },
  { type: 'DELETE_PRODUCT', payload: '{}', wrong: [] },
  { type: 'DELETE_PRODUCT', payload: '{"state":"INACTIVE"}', wrong: ['state'] },
  {
    type: 'CREATE_PRODUCT',
    payload: JSON.stringify({ ...annuityProduct('p1'), adjustInterestForFirstInstallment: true }),
    wrong: [],
  },
  {
    type: 'CREATE_PRODUCT',
    payload: JSON.stringify({ ...annuityProduct('p1'), adjustInterestForFirstInstallment: 'yes' }),
    wrong: ['adjustInterestForFirstInstallment'],
  },
  {
    type: 'CREATE_PRODUCT',
    payload: JSON.stringify({
      ...annuityProduct('p1'),
      paymentSettings: {
        paymentMethod: 'VERTICAL',
        prepaymentSettings: {
          elementsRecalculationMethod: 'TOTAL_EXPECTED_FIXED',
          applyInterestOnPrepaymentMethod: 'MANUAL',
          principalPaidInstallmentStatus: 'PAID',
          prepaymentRecalculationMethod: 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT',
        },
      },
    }),
    wrong: [],
  },
  {
    type: 'CREATE_PRODUCT',
    payload: JSON.stringify({
      ...annuityProduct('p1'),
      interestSettings: { pmtAdjustmentThreshold: { method: 'WORKING_DAYS', numberOfDays: 1 } },
      paymentSettings: {
        prepaymentSettings: { principalPaidInstallmentStatus: 'ORIGINAL_TOTAL_EXPECTED_PAID' },
      },
    }),
    wrong: [
      'interestSettings.pmtAdjustmentThreshold.method',
      'paymentSettings.prepaymentSettings.principalPaidInstallmentStatus',
    ],
  },
  { type: 'REPAY', payload: `{"amount":10,"installmentEncodedKey":"${'a'.repeat(32)}"}`, wrong: [] },
  { type: 'REPAY', payload: '{"amount":10,"installmentEncodedKey":"3"}', wrong: ['installmentEncodedKey'] },
  { type: 'CREATE_PRODUCT', payload: '{"name":"n","type":"UNKNOWN","currency":{"code":"EUR"}}', wrong: ['type'] },
  {
    type: 'CREATE_PRODUCT',
    payload:
      '{"currency":{"code":"euro"},"paymentSettings":{"repaymentAllocationOrder":["FEE","FEE"]},"feesSettings":{"fees":[{"trigger":"LATE"}]}}',
    wrong: [
      'currency.code',
      'feesSettings.fees[0].name',
      'feesSettings.fees[0].trigger',
      'name',
      'paymentSettings.repaymentAllocationOrder',
      'type',
    ],
  },
];

describe('the format of commands', () => {
  for (const { type, payload, wrong } of cases) {
    const title = `${type} ${payload.replace(/\s+/g, ' ').slice(0, 80)}`;
    it(`${wrong.length === 0 ? 'accepts' : `refuses ${wrong.join(', ')} of`} ${title}`, () => {
      const found = checkPayload(type, payload, idFieldOf(type) === 'loanProductId' ? 'p1' : 'L1');
      expect(found.map(({ errorSource }) => errorSource)).to.have.members(wrong);
      expect(found.every(({ errorReason }) => errorReason === 'INVALID_PARAMETERS')).to.equal(true);
      const command = written(type, payload);
      const parsed = parse(command);
      expect(parsed.kind).to.equal(wrong.length > 0 ? 'refused' : (kinds[type] ?? 'loan'));
      // The schema that producers see must agree with the worker.
      const sent: unknown = JSON.parse(command);
      expect(validate(sent).length === 0, 'schema').to.equal(wrong.length === 0);
      expect(validateOnDemand(sent)).to.deep.equal(validate(sent));
      expect(findFirstOnDemand(sent)).to.deep.equal(findFirst(sent));
    });
  }

  it('is tested for every type', () => {
    // Only the service itself closes the days of a partition.
    const posted = commandTypes.filter((type) => type !== 'END_OF_DAY');
    expect(new Set(cases.map(({ type }) => type))).to.deep.equal(new Set(posted));
  });

  it('refuses a number of more than fifteen significant digits, naming the field', () => {
    const refusals = checkPayload('REPAY', '{"amount":12345678901234.56}', 'L1');
    expect(refusals).to.deep.equal([{ errorReason: 'INVALID_PARAMETERS', errorSource: 'amount' }]);
  });

  it('reports at most the number of faults that a record can hold', () => {
    const fields = Array.from({ length: 10_000 }, (_, index) => `"${'x'.repeat(500)}${index}":1`);
    const refusals = checkPayload('DISBURSE', `{${fields.join(',')}}`, 'L1');
    expect(refusals).to.have.length(refusalsMaximum);
    expect(Math.max(...refusals.map(({ errorSource }) => errorSource?.length ?? 0))).to.equal(100);
  });

  it('refuses a day that does not exist', () => {
    expect(
      checkPayload('DISBURSE', '{"valueDate":"2026-02-30"}', 'L1').map(({ errorSource }) => errorSource),
    ).to.deep.equal(['valueDate']);
  });

  it('keeps every digit of an amount', () => {
    const text = written('REPAY', '{ "amount": 315.470 ,\n "notes":"a\\nb" }');
    expect(text).to.contain('"payload":{"amount":315.470,"notes":"a\\nb"}').and.not.contain('\n');
    const parsed = parse(text);
    expect(parsed.kind === 'loan' && parsed.command.type === 'REPAY' && parsed.command.amount.toFixed()).to.equal(
      '315.47',
    );
  });

  it('refuses a payload with text after its JSON value', () => {
    expect(() => written('REPAY', '{"amount":1},"type":"DISBURSE"')).to.throw(SyntaxError);
    expect(() => readPayload('{"amount":1},"type":"DISBURSE"')).to.throw(SyntaxError, 'position 12');
  });

  it('refuses a currency with two contradicting codes', () => {
    const product = { ...annuityProduct('p1'), currency: { code: 'JPY', currencyCode: 'EUR', digits: 2 } };
    expect(
      checkPayload('CREATE_PRODUCT', JSON.stringify(product), 'p1').map(({ errorSource }) => errorSource),
    ).to.deep.equal(['currency.currencyCode', 'currency.digits']);
  });

  const lengths: readonly (readonly [
    type: CommandType,
    field: string,
    most: number,
    payload: (text: string) => object,
  ])[] = [
    ['CREATE_LOAN', 'loanName', 256, (loanName) => ({ productTypeKey: 'p1', loanAmount: 1, loanName })],
    ['CREATE_LOAN', 'productTypeKey', 256, (productTypeKey) => ({ productTypeKey, loanAmount: 1 })],
    [
      'CREATE_LOAN',
      'accountHolderKey',
      256,
      (accountHolderKey) => ({ productTypeKey: 'p1', loanAmount: 1, accountHolderKey }),
    ],
    ['CREATE_LOAN', 'notes', 2_000, (notes) => ({ productTypeKey: 'p1', loanAmount: 1, notes })],
    ['CHANGE_STATE', 'notes', 2_000, (notes) => ({ action: 'APPROVE', notes })],
    ['DISBURSE', 'externalId', 256, (externalId) => ({ externalId })],
    ['DISBURSE', 'fees[0].predefinedFeeKey', 256, (predefinedFeeKey) => ({ fees: [{ predefinedFeeKey }] })],
    ['REPAY', 'notes', 2_000, (notes) => ({ amount: 1, notes })],
    [
      'REPAY',
      'transactionDetails.transactionChannelId',
      256,
      (transactionChannelId) => ({ amount: 1, transactionDetails: { transactionChannelId } }),
    ],
    ['APPLY_FEE', 'predefinedFeeKey', 256, (predefinedFeeKey) => ({ predefinedFeeKey })],
    ['APPLY_PENALTY', 'externalId', 256, (externalId) => ({ amount: 1, externalId })],
    ['ADJUST_TRANSACTION', 'notes', 2_000, (notes) => ({ transactionId: 'L1-1', notes })],
    ['PRINCIPAL_OVERPAYMENT', 'externalId', 256, (externalId) => ({ amount: 1, externalId })],
    ['CREATE_PRODUCT', 'name', 256, (name) => ({ ...annuityProduct('p1'), name })],
    ['CREATE_PRODUCT', 'notes', 2_000, (notes) => ({ ...annuityProduct('p1'), notes })],
    [
      'CREATE_PRODUCT',
      'feesSettings.fees[0].name',
      256,
      (name) => ({ ...annuityProduct('p1'), feesSettings: { fees: [{ id: 'f', name, trigger: 'MANUAL' }] } }),
    ],
    ['UPDATE_PRODUCT', 'name', 256, (name) => ({ ...annuityProduct('p1'), name })],
    ['UPDATE_PRODUCT', 'notes', 2_000, (notes) => ({ ...annuityProduct('p1'), notes })],
  ];
  for (const [index, [type, field, most, payloadWith]] of lengths.entries()) {
    it(`accepts ${field} of ${type} up to ${most} characters of any kind, and not one more`, () => {
      const id = idFieldOf(type) === 'loanProductId' ? 'p1' : 'L1';
      const faults = (text: string): unknown[] =>
        checkPayload(type, JSON.stringify(payloadWith(text)), id).map(({ errorSource }) => errorSource);
      for (const character of ['x', 'ö', '\u{1F4B6}']) {
        expect(faults(character.repeat(most))).to.deep.equal([]);
        expect(faults(character.repeat(most + 1))).to.deep.equal([field]);
        const [longest, tooLong] = [most, most + 1].map((count) =>
          written(type, JSON.stringify(payloadWith(character.repeat(count)))),
        );
        expect(validate(JSON.parse(longest ?? ''))).to.deep.equal([]);
        expect(validate(JSON.parse(tooLong ?? ''))).not.to.deep.equal([]);
      }
      // As large as a body may be: one of them is enough.
      expect(faults('x'.repeat((index === 0 ? 7 : 1) * 1024 * 1024))).to.deep.equal([field]);
      // An empty text is an absent field.
      const absent = JSON.stringify(payloadWith('')).replace('""', 'null');
      expect(faults('')).to.deep.equal(checkPayload(type, absent, id).map(({ errorSource }) => errorSource));
    });
  }

  it('accepts lists up to 200 items, and not one more', () => {
    const fees = (count: number): string =>
      JSON.stringify({ fees: Array.from({ length: count }, (_, index) => ({ predefinedFeeKey: `f${index}` })) });
    expect(checkPayload('DISBURSE', fees(200), 'L1')).to.deep.equal([]);
    expect(checkPayload('DISBURSE', fees(201), 'L1').map(({ errorSource }) => errorSource)).to.deep.equal(['fees']);
  });

  it('accepts ids of 1 to 64 characters for the subject of a command', () => {
    for (const [id, isTaken] of [
      ['x', true],
      ['x'.repeat(64), true],
      ['x'.repeat(65), false],
      ['', false],
    ] as const) {
      for (const type of ['CREATE_LOAN', 'CREATE_PRODUCT'] as const) {
        const payload = type === 'CREATE_LOAN' ? { productTypeKey: 'p1', loanAmount: 1 } : annuityProduct('p1');
        const { id: _, ...unnamed } = { id: '', ...payload };
        expect(checkPayload(type, JSON.stringify(unnamed), id).length === 0, `${type} ${id}`).to.equal(isTaken);
      }
    }
  });

  it('accepts existing days and times, and no others', () => {
    const dates: readonly (readonly [text: string, isTaken: boolean])[] = [
      ['2026-01-20', true],
      ['2024-02-29', true],
      ['2026-02-29', false],
      ['2026-02-30', false],
      ['2026-00-10', false],
      ['2026-13-01', false],
      ['0000-01-01', false],
      ['2026-01-20T00:00:00Z', true],
      ['2026-01-20T23:59:59.999999999Z', true],
      ['2026-01-20T24:00:00Z', false],
      ['2026-01-20T25:00:00Z', false],
      ['2026-01-20T23:60:00Z', false],
      ['2026-01-20T23:59:60Z', false],
      ['2026-01-20T23:59+14:00', true],
      ['2026-01-20T23:59:00-1200', true],
      ['2026-01-20T23:59:00+18:00', true],
      ['2026-01-20T23:59:00+18:01', false],
      ['2026-01-20T23:59:00+19:00', false],
      ['2026-01-20T23:59:00+02:60', false],
      ['2026-01-20 23:59:00', false],
      ['20260120', false],
    ];
    for (const [valueDate, isTaken] of dates) {
      const faults = checkPayload('DISBURSE', JSON.stringify({ valueDate }), 'L1');
      expect(faults, valueDate).to.deep.equal(
        isTaken ? [] : [{ errorReason: 'INVALID_PARAMETERS', errorSource: 'valueDate' }],
      );
    }
  });

  it('demands a payload of every type that is refused with an empty one', () => {
    const accepted = commandTypes.filter((type) => {
      if (checkPayload(type, '{}', idFieldOf(type) === 'loanProductId' ? 'p1' : 'L1').length === 0) return false;
      const { payload: _, ...command } = JSON.parse(written(type, '{}')) as Record<string, unknown>;
      return validate(command).length === 0;
    });
    expect(accepted).to.deep.equal([]);
  });

  it('treats an empty body as an empty object', () => {
    expect(readPayload(' \n')).to.deep.equal({});
    expect(checkPayload('DISBURSE', '', 'L1')).to.deep.equal([]);
  });

  it('stores the digest of a command that its reader finds in it', () => {
    for (const text of [
      '{"amount":1}',
      '{ "amount" : 1.0 }',
      '{"amount":100000000000000,"notes":"\\ud83d\\udcb6 \u{1F4B6}"}',
    ]) {
      const command = prepared('REPAY', 'L1', text);
      const parsed = parse(written('REPAY', text));
      expect(parsed.kind === 'loan' && parsed.envelope.digest).to.equal(command.envelope.digest);
    }
  });

  it('gives a command one digest, in whatever order its fields are', () => {
    const orders = [
      '{"amount":1.50,"customPaymentAmounts":[{"amount":1.50,"customPaymentAmountType":"INTEREST"}]}',
      '{"customPaymentAmounts":[{"customPaymentAmountType":"INTEREST","amount":1.50}],"amount":1.50}',
    ].map((text) => prepared('REPAY', 'L1', text).envelope.digest);
    expect(new Set(orders).size).to.equal(1);
    const other = '{"amount":1.50,"customPaymentAmounts":[{"amount":1.51,"customPaymentAmountType":"INTEREST"}]}';
    expect(prepared('REPAY', 'L1', other).envelope.digest).not.to.equal(orders[0]);
  });

  it('reads a payload of any depth without an exception', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      for (let depth = 1_000; depth < 60_000; depth += 499) {
        const text = `{"amount":1.5,"x":${open.repeat(depth)}0${close.repeat(depth)}}`;
        const value = `{"commandId":"${commandId}","type":"REPAY","loanAccountId":"L1","payload":${text}}`;
        expect(parse(value).kind).to.be.oneOf(['refused', 'unreadable']);
      }
    }
  });

  it('uses the event id as the command id where there is none, and the time set by the broker', () => {
    const metadata = { eid: commandId.toUpperCase(), received_at: '2026-01-12T10:00:00.000Z', flow_id: 'flow' };
    const parsed = parse(JSON.stringify({ metadata, type: 'DISBURSE', loanAccountId: 'L1' }));
    expect(parsed.kind === 'loan' && parsed.envelope).to.include({
      commandId,
      flowId: 'flow',
      receivedAt: 1_768_212_000_000,
    });
  });

  for (const [what, span, read] of [
    ['the place of its request in a trace', { traceparent: '00-a-b-01', other: 'x' }, { traceparent: '00-a-b-01' }],
    ['no place in a trace, of a span context without one', { other: 'x' }, {}],
    ['no place in a trace, of one that is no text', { traceparent: 7 }, {}],
    ['no place in a trace, of a span context that is none', 'here', {}],
  ] as const) {
    it(`has ${what}`, () => {
      const metadata = { eid: commandId, span_ctx: span };
      const parsed = parse(JSON.stringify({ metadata, type: 'DISBURSE', loanAccountId: 'L1' }));
      const { traceparent } = parsed.kind === 'loan' ? parsed.envelope : { traceparent: 'none was read' };
      expect(traceparent === undefined ? {} : { traceparent }).to.deep.equal(read);
    });
  }

  it('uses the time of the log where the broker set none', () => {
    const parsed = parse(JSON.stringify({ commandId, type: 'DISBURSE', loanAccountId: 'L1' }));
    expect(parsed.kind === 'loan' && parsed.envelope).to.include({ receivedAt: 1_000, flowId: null });
  });

  const unreadable: [what: string, text: string | Buffer][] = [
    ['a text that is no JSON', 'hello'],
    ['what is no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['a value that is no object', '[]'],
    ['a command without an id', '{"type":"DISBURSE","loanAccountId":"L1"}'],
    ['an id that is no UUID', '{"commandId":"1","type":"DISBURSE","loanAccountId":"L1"}'],
    ['an unknown type', `{"commandId":"${commandId}","type":"FORGIVE","loanAccountId":"L1"}`],
    ['a command without a subject', `{"commandId":"${commandId}","type":"DISBURSE"}`],
    ['a loan id with a slash', `{"commandId":"${commandId}","type":"DISBURSE","loanAccountId":"L1/transaction/0"}`],
    ['a repeated key', `{"commandId":"${commandId}","type":"DISBURSE","loanAccountId":"L1","loanAccountId":"L2"}`],
  ];
  for (const [what, text] of unreadable) {
    it(`refuses ${what} with a reason`, () => {
      const parsed = parseCommand(Buffer.from(text), source);
      expect(parsed.kind).to.equal('unreadable');
      expect(parsed.kind === 'unreadable' && parsed.reason).to.not.equal('');
    });
  }

  it('generates the same keys for a product and its fees whenever it is read', () => {
    const payload = {
      ...annuityProduct('p1'),
      feesSettings: {
        fees: [
          { name: 'a', trigger: 'MANUAL' },
          { name: 'b', trigger: 'MANUAL' },
        ],
      },
    };
    const text = written('CREATE_PRODUCT', JSON.stringify(payload));
    const [first, second] = [parse(text), parse(text)];
    expect(first).to.deep.equal(second);
    if (first.kind !== 'product' || first.request.type !== 'CREATE_PRODUCT') throw new Error('no product');
    const { product } = first.request;
    const keys = [product.encodedKey, ...product.feesSettings.fees.map(({ encodedKey }) => encodedKey)];
    expect(new Set(keys).size).to.equal(3);
    expect(keys.every((key) => /^[0-9a-f]{32}$/.test(key))).to.equal(true);
  });
});

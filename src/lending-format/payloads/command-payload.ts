import {
  type AdjustTransaction,
  type ApplyFee,
  type ApplyInterest,
  type ApplyPenalty,
  type ChangeState,
  type CreateLoan,
  type Disburse,
  type LoanCommand,
  type Lock,
  type PayOff,
  type PrincipalOverpayment,
  type ReduceInterest,
  type Refund,
  type RestructuringCommand,
  type Repay,
  type StartBusinessDay,
  type Terminate,
  type UndoWriteOff,
  type Unlock,
  type WriteOff,
  type UpdateLoan,
  stateActions,
} from '../../lending/commands.ts';
import { customPaymentAmountTypes, prepaymentRecalculationMethods } from '../../lending/payment-options.ts';
import { lockedOperations } from '../../lending/commands.ts';
import { zero } from '../../lending/money.ts';
import { type FieldReader, present } from './field-reader.ts';
import type { Payload } from './loan-payload.ts';

function readChangeState(reader: FieldReader): Payload<ChangeState> {
  const action = reader.require('action', reader.choice('action', stateActions)) ?? 'REQUEST_APPROVAL';
  return { action, ...present({ notes: reader.notes('notes') }) };
}

function readDisburse(reader: FieldReader): Payload<Disburse> {
  reader.keepOnly('shiftAdjustableInterestPeriods', false);
  reader.keepEmpty('transferDetails');
  return {
    ...readTransactionDetails(reader),
    fees: reader.objects('fees').map((fee) => {
      fee.ignore('encodedKey');
      return {
        predefinedFeeKey: fee.require('predefinedFeeKey', fee.text('predefinedFeeKey')) ?? '',
        ...present({ amount: fee.decimal('amount'), percentage: fee.decimal('percentage') }),
      };
    }),
    ...present({ amount: reader.decimal('amount'), firstRepaymentDate: reader.date('firstRepaymentDate') }),
  };
}

function readRepay(reader: FieldReader): Payload<Repay> {
  reader.keepOnly('principalOverpaymentAmount', 0);
  return {
    ...readTransactionDetails(reader),
    amount: reader.require('amount', reader.decimal('amount')) ?? zero,
    customPaymentAmounts: reader.objects('customPaymentAmounts').map((custom) => ({
      customPaymentAmountType:
        custom.require('customPaymentAmountType', custom.choice('customPaymentAmountType', customPaymentAmountTypes)) ??
        'PRINCIPAL',
      amount: custom.require('amount', custom.decimal('amount')) ?? zero,
      ...present({ predefinedFeeKey: custom.text('predefinedFeeKey') }),
    })),
    ...readRecalculation(reader),
    ...present({ installmentEncodedKey: reader.encodedKey('installmentEncodedKey') }),
  };
}

function readApplyFee(reader: FieldReader): Payload<ApplyFee> {
  reader.keepOnly('feeCapitalisation', false);
  return {
    ...readTransactionDetails(reader),
    ...present({
      predefinedFeeKey: reader.text('predefinedFeeKey'),
      amount: reader.decimal('amount'),
      installmentNumber: reader.count('installmentNumber'),
    }),
  };
}

function readApplyPenalty(reader: FieldReader): Payload<ApplyPenalty> {
  return {
    ...readTransactionDetails(reader),
    amount: reader.require('amount', reader.decimal('amount')) ?? zero,
    ...present({ installmentNumber: reader.count('installmentNumber') }),
  };
}

function readAdjustTransaction(reader: FieldReader): Payload<AdjustTransaction> {
  // How the amounts of rows are to be adjusted one by one; none means all that the transaction did.
  reader.keepEmpty('installments');
  return {
    transactionId: reader.require('transactionId', reader.text('transactionId')) ?? '',
    ...present({ bookingDate: reader.date('bookingDate'), notes: reader.notes('notes') }),
  };
}

function readPrincipalOverpayment(reader: FieldReader): Payload<PrincipalOverpayment> {
  return {
    ...readTransactionDetails(reader),
    amount: reader.require('amount', reader.decimal('amount')) ?? zero,
    ...readRecalculation(reader),
  };
}

function readApplyInterest(reader: FieldReader): Payload<ApplyInterest> {
  // There are no payment holidays, and no interest is kept apart for arrears. The transaction has no such fields.
  reader.keepOnly('isPaymentHolidaysInterest', false);
  reader.keepOnly('isInterestFromArrears', false);
  reader.keepOnly('paymentHolidaysInterestAmount', 0);
  const valueDate = reader.require('interestApplicationDate', reader.date('interestApplicationDate'));
  return present({ valueDate, notes: reader.notes('notes') });
}

function readStartBusinessDay(reader: FieldReader): Payload<StartBusinessDay> {
  return { businessDate: reader.require('businessDate', reader.date('businessDate')) ?? '' };
}

function readPayOff(reader: FieldReader): Payload<PayOff> {
  const details = {
    ...readChannel(reader),
    ...present({ externalId: reader.text('externalId'), notes: reader.notes('notes') }),
  };
  const amounts = reader.object('payOffAdjustableAmounts');
  amounts.keepOnly('interestFromArrearsPaid', 0);
  amounts.keepOnly('interestBearingFeeAmount', 0);
  amounts.keepOnly('interestBearingFeeInterestAmount', 0);
  amounts.keepOnly('carriedForwardPrincipalInArrearsAmount', 0);
  amounts.keepOnly('carriedForwardInterestAmount', 0);
  amounts.keepOnly('carriedForwardInterestFromArrearsAmount', 0);
  return {
    ...details,
    payOffAdjustableAmounts: present({
      interestPaid: amounts.decimal('interestPaid'),
      feesPaid: amounts.decimal('feesPaid'),
      penaltyPaid: amounts.decimal('penaltyPaid'),
      nonScheduledFeeAmount: amounts.decimal('nonScheduledFeeAmount'),
    }),
  };
}

/** The payload of each reduction. */
function readReduction(reader: FieldReader): Payload<ReduceInterest> {
  return {
    ...readTransactionDetails(reader),
    amount: reader.require('amount', reader.decimal('amount')) ?? zero,
    ...present({ installmentNumber: reader.count('installmentNumber') }),
  };
}

function readWriteOff(reader: FieldReader): Payload<WriteOff | UndoWriteOff> {
  return present({ notes: reader.notes('notes') });
}

function readRefund(reader: FieldReader): Payload<Refund> {
  return {
    ...readTransactionDetails(reader),
    amount: reader.require('amount', reader.decimal('amount')) ?? zero,
    linkedDisbursementKey: reader.require('linkedDisbursementKey', reader.text('linkedDisbursementKey')) ?? '',
  };
}

function readTerminate(reader: FieldReader): Payload<Terminate> {
  const valueDate = reader.require('valueDate', reader.date('valueDate'));
  return present({ valueDate, notes: reader.notes('notes') });
}

function readLock(reader: FieldReader): Payload<Lock> {
  // What a locked account shows as its total due: all that it owes.
  reader.keepOnly('lockedAccountTotalDueType', 'BALANCE_AMOUNT');
  return {
    lockedOperations: reader.choices('lockedOperations', lockedOperations) ?? [],
    ...present({ notes: reader.notes('notes') }),
  };
}

function readUnlock(reader: FieldReader): Payload<Unlock> {
  return present({ notes: reader.notes('notes') });
}

/** Every command on a loan whose payload says all: not those that open one, nor the one that changes it. */
export type ExistingLoanCommand = Exclude<LoanCommand, CreateLoan | UpdateLoan | RestructuringCommand>;

/**
 * How the payload of each command on a loan is read. The reader collects the refusals. With any of them, the result is
 * not to be used.
 */
export const payloadReaders: {
  readonly [Command in ExistingLoanCommand as Command['type']]: (reader: FieldReader) => Payload<Command>;
} = {
  CHANGE_STATE: readChangeState,
  DISBURSE: readDisburse,
  REPAY: readRepay,
  APPLY_FEE: readApplyFee,
  APPLY_PENALTY: readApplyPenalty,
  ADJUST_TRANSACTION: readAdjustTransaction,
  PRINCIPAL_OVERPAYMENT: readPrincipalOverpayment,
  APPLY_INTEREST: readApplyInterest,
  START_BUSINESS_DAY: readStartBusinessDay,
  PAY_OFF: readPayOff,
  REDUCE_INTEREST: readReduction,
  REDUCE_FEES: readReduction,
  REDUCE_PENALTIES: readReduction,
  WRITE_OFF: readWriteOff,
  UNDO_WRITE_OFF: readWriteOff,
  LOCK: readLock,
  UNLOCK: readUnlock,
  DELETE_LOAN: () => ({}),
  UNDO_RESCHEDULE: readUnlock,
  UNDO_REFINANCE: readUnlock,
  REFUND: readRefund,
  TERMINATE: readTerminate,
  RECALCULATE_DUE_DATES: readUnlock,
  ERASE_PERSONAL_DATA: () => ({}),
};

/** The fields of every transaction, and what was kept so far. Keep before what only one type of transaction keeps. */
function readTransactionDetails(reader: FieldReader) {
  reader.keepText('originalCurrencyCode');
  reader.keepFieldSets();
  return {
    ...readChannel(reader),
    ...present({
      valueDate: reader.date('valueDate'),
      bookingDate: reader.date('bookingDate'),
      externalId: reader.text('externalId'),
      notes: reader.notes('notes'),
    }),
  };
}

function readChannel(reader: FieldReader) {
  // A deposit account as the target is refused like any unknown field, as there are no deposit accounts.
  const channel = reader.object('transactionDetails');
  const transactionDetails = present({
    transactionChannelId: channel.text('transactionChannelId'),
    transactionChannelKey: channel.text('transactionChannelKey'),
  });
  channel.keepOnly('internalTransfer', false);
  const additionalFields = reader.keptFields();
  return present({
    additionalFields: Object.keys(additionalFields).length === 0 ? undefined : additionalFields,
    transactionDetails: Object.keys(transactionDetails).length === 0 ? undefined : transactionDetails,
  });
}

function readRecalculation(reader: FieldReader) {
  return present({
    prepaymentRecalculationMethod: reader.choice('prepaymentRecalculationMethod', prepaymentRecalculationMethods),
  });
}

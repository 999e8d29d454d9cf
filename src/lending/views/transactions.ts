import { withAdditionalFields } from '../additional-fields.ts';
import { withGroupIndexes } from '../custom-fields/field-sets.ts';
import type { CustomPaymentAmount, TransactionChannel } from '../commands.ts';
import type { PrepaymentRecalculationMethod } from '../payment-options.ts';
import { startOfDay, toInstant } from '../instants.ts';
import type { Loan, LoanTransaction } from '../loan.ts';
import { installmentEncodedKey } from '../identifiers.ts';
import type { Decimal } from '../money.ts';
import type { FeeTrigger } from '../products/product.ts';
import type { LoanTransactionType } from '../transaction-types.ts';
import { shown } from './shown-fields.ts';

/** A transaction as GET /loans/{id}/transactions and transaction events show it. */
export interface TransactionView {
  readonly encodedKey: string;
  readonly id: string;
  readonly parentAccountKey: string;
  readonly type: LoanTransactionType;
  /** Negative for an adjustment. */
  readonly amount: Decimal;
  readonly valueDate: string;
  readonly bookingDate: string;
  readonly creationDate: string;
  readonly currency: { readonly code: string };
  /** Paid, charged or lent amount of each element, tax included; negative for an adjustment. */
  readonly affectedAmounts: {
    readonly principalAmount: Decimal;
    readonly interestAmount: Decimal;
    readonly feesAmount: Decimal;
    readonly penaltyAmount: Decimal;
  };
  readonly taxes: {
    /** Percent. */
    readonly taxRate: Decimal;
    readonly taxOnInterestAmount: Decimal;
    readonly taxOnFeesAmount: Decimal;
    readonly taxOnPenaltyAmount: Decimal;
  };
  readonly terms: {
    readonly interestSettings: { readonly interestRate: Decimal };
    readonly periodicPayment?: Decimal;
  };
  readonly accountBalances: { readonly principalBalance: Decimal; readonly totalBalance: Decimal };
  readonly fees: readonly {
    /** Empty for an arbitrary fee. */
    readonly predefinedFeeKey: string;
    readonly name: string;
    readonly trigger: FeeTrigger;
    readonly amount: Decimal;
    readonly taxAmount: Decimal;
  }[];
  readonly customPaymentAmounts: readonly CustomPaymentAmount[];
  readonly prepaymentRecalculationMethod?: PrepaymentRecalculationMethod;
  readonly installmentEncodedKey?: string;
  readonly externalId?: string;
  readonly notes?: string;
  readonly transactionDetails: TransactionChannel;
  /** Always empty: no money moves between accounts here. */
  readonly transferDetails: object;
  /** On an adjusted transaction: the one that undid it. */
  readonly adjustmentTransactionKey?: string;
  /** On an adjustment: the transaction it undid. */
  readonly originalTransactionKey?: string;
}

/** One transaction of the loan as the API and events show it. */
export function transactionView(loan: Loan, transaction: LoanTransaction): TransactionView {
  const { affected, taxes, terms, installmentKey } = transaction;
  const view = shown({
    encodedKey: transaction.encodedKey,
    id: transaction.id,
    parentAccountKey: loan.encodedKey,
    type: transaction.type,
    amount: transaction.amount,
    valueDate: startOfDay(transaction.valueDate),
    bookingDate: startOfDay(transaction.bookingDate),
    creationDate: toInstant(transaction.createdAt),
    currency: { code: loan.product.currency.code },
    affectedAmounts: {
      principalAmount: affected.principal,
      interestAmount: affected.interest,
      feesAmount: affected.fees,
      penaltyAmount: affected.penalty,
    },
    taxes: {
      taxRate: loan.product.taxSettings.taxRate,
      taxOnInterestAmount: taxes.interest,
      taxOnFeesAmount: taxes.fees,
      taxOnPenaltyAmount: taxes.penalty,
    },
    terms: shown({ interestSettings: { interestRate: terms.interestRate }, periodicPayment: terms.periodicPayment }),
    accountBalances: {
      principalBalance: transaction.principalBalanceAfter,
      totalBalance: transaction.totalBalanceAfter,
    },
    fees: transaction.fees.map((fee) => ({
      predefinedFeeKey: fee.predefinedFeeKey ?? '',
      name: fee.feeName,
      trigger: fee.trigger,
      amount: fee.amount,
      taxAmount: fee.tax,
    })),
    customPaymentAmounts: transaction.customPaymentAmounts,
    prepaymentRecalculationMethod: transaction.prepaymentRecalculationMethod,
    installmentEncodedKey: installmentKey === null ? null : installmentEncodedKey(loan, installmentKey),
    externalId: transaction.externalId,
    notes: transaction.notes,
    transactionDetails: transaction.transactionDetails ?? {},
    transferDetails: {},
    adjustmentTransactionKey: transaction.adjustmentTransactionKey,
    originalTransactionKey: transaction.originalTransactionKey,
  });
  return withAdditionalFields<TransactionView>(view, withGroupIndexes(transaction.additionalFields));
}

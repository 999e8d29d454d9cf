import { withAdditionalFields } from '../additional-fields.ts';
import { withGroupIndexes } from '../custom-fields/field-sets.ts';
import type { CustomPaymentAmount, TransactionChannel } from '../commands.ts';
import type { PrepaymentRecalculationMethod } from '../payment-options.ts';
import { startOfDay, toInstant } from '../instants.ts';
import type { Loan, LoanTransaction } from '../loan.ts';
import { installmentEncodedKey } from '../identifiers.ts';
import { type Decimal, zero } from '../money.ts';
import { administratorKey } from '../organization.ts';
import type { FeeTrigger } from '../products/product.ts';
import type { LoanTransactionType } from '../transaction-types.ts';
import { shown } from './shown-fields.ts';

/** Amounts that the lending API names and that are always zero here. */
type NoAmounts<Name extends string> = Readonly<Record<Name, Decimal>>;

/** There is no interest from arrears, no deferred one, no payment holiday, no funder and no commission. */
const elementsWithoutAmounts = [
  'interestFromArrearsAmount',
  'deferredInterestAmount',
  'paymentHolidaysInterestAmount',
  'fundersInterestAmount',
  'organizationCommissionAmount',
] as const;
const taxesWithoutAmounts = [
  'taxOnInterestFromArrearsAmount',
  'deferredTaxOnInterestAmount',
  'taxOnPaymentHolidaysInterest',
] as const;

function noAmounts<Name extends string>(names: readonly Name[]): NoAmounts<Name> {
  return Object.fromEntries(names.map((name) => [name, zero])) as NoAmounts<Name>;
}

const noElementAmounts = noAmounts(elementsWithoutAmounts);
const noTaxAmounts = noAmounts(taxesWithoutAmounts);
const noRedraw = noAmounts(['expectedPrincipalRedraw', 'redrawBalance']);

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
  } & NoAmounts<(typeof elementsWithoutAmounts)[number]>;
  readonly taxes: {
    /** Percent. */
    readonly taxRate: Decimal;
    readonly taxOnInterestAmount: Decimal;
    readonly taxOnFeesAmount: Decimal;
    readonly taxOnPenaltyAmount: Decimal;
  } & NoAmounts<(typeof taxesWithoutAmounts)[number]>;
  readonly terms: {
    readonly interestSettings: { readonly interestRate: Decimal };
    readonly periodicPayment?: Decimal;
  };
  /** What the account owed after it. */
  readonly accountBalances: {
    readonly principalBalance: Decimal;
    readonly totalBalance: Decimal;
    /** Paid of installments that were not due yet. */
    readonly advancePosition: Decimal;
    /** Owed by installments that were late. */
    readonly arrearsPosition: Decimal;
  } & NoAmounts<'expectedPrincipalRedraw' | 'redrawBalance'>;
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
  /** Who posted it; absent when the end of a day did. */
  readonly userKey?: string;
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
      ...noElementAmounts,
    },
    taxes: {
      taxRate: loan.product.taxSettings.taxRate,
      taxOnInterestAmount: taxes.interest,
      taxOnFeesAmount: taxes.fees,
      taxOnPenaltyAmount: taxes.penalty,
      ...noTaxAmounts,
    },
    terms: shown({ interestSettings: { interestRate: terms.interestRate }, periodicPayment: terms.periodicPayment }),
    accountBalances: {
      principalBalance: transaction.principalBalanceAfter,
      totalBalance: transaction.totalBalanceAfter,
      advancePosition: transaction.advancePositionAfter ?? zero,
      arrearsPosition: transaction.arrearsPositionAfter ?? zero,
      ...noRedraw,
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
    userKey: transaction.isSystemPosted ? null : administratorKey,
    notes: transaction.notes,
    transactionDetails: transaction.transactionDetails ?? {},
    transferDetails: {},
    adjustmentTransactionKey: transaction.adjustmentTransactionKey,
    originalTransactionKey: transaction.originalTransactionKey,
  });
  return withAdditionalFields<TransactionView>(view, withGroupIndexes(transaction.additionalFields));
}

import type { Loan, LoanTransaction } from '../../lending/loan.ts';
import type { TransactionView } from '../../lending/views/transactions.ts';
import type { FieldKind } from './conditions.ts';
import { customFieldPath, type SearchColumn, type SearchField, type SearchFields, valueAt } from './search-field.ts';

/** A transaction that a search looks at: as stored, and as clients see it. */
export interface ExaminedTransaction {
  /** Its account, without installments and fees. */
  readonly loan: Loan;
  readonly transaction: LoanTransaction;
  readonly view: TransactionView;
  /** The id of the transaction with this encodedKey. */
  readonly idOf: (encodedKey: string) => string | undefined;
}

type TransactionField = SearchField<ExaminedTransaction>;

function column(sql: string, isOptional = false): { readonly column: SearchColumn } {
  return { column: { sql, isOptional } };
}

const transactionId = "(transactions.loan_id || '-' || transactions.number)";

const byColumn: Readonly<Record<string, TransactionField>> = {
  id: {
    kind: 'text',
    column: {
      sql: transactionId,
      sqlWithoutCase: `lower(${transactionId})`,
      isOptional: false,
      isIdentity: true,
    },
    valueOf: ({ view }) => view.id,
  },
  encodedKey: { kind: 'key', ...column('transactions.transaction_key'), valueOf: ({ view }) => view.encodedKey },
  type: { kind: 'key', ...column('transactions.type'), valueOf: ({ view }) => view.type },
  creationDate: {
    kind: 'instant',
    ...column('transactions.creation_date'),
    valueOf: ({ view }) => view.creationDate,
  },
  valueDate: { kind: 'day', ...column('transactions.value_date'), valueOf: ({ view }) => view.valueDate },
  externalId: {
    kind: 'text',
    column: {
      sql: 'transactions.external_id',
      sqlWithoutCase: 'without_case(transactions.external_id)',
      isOptional: true,
    },
    valueOf: ({ view }) => view.externalId,
  },
  parentAccountKey: { kind: 'key', ...column('loans.encoded_key'), valueOf: ({ view }) => view.parentAccountKey },
  parentAccountID: {
    kind: 'text',
    column: {
      sql: 'transactions.loan_id',
      sqlWithoutCase: 'lower(transactions.loan_id)',
      isOptional: false,
    },
    valueOf: ({ loan }) => loan.id,
  },
  parentAccountHolderKey: {
    kind: 'key',
    ...column('loans.account_holder_key', true),
    valueOf: ({ loan }) => loan.accountHolderKey,
  },
  productTypeKey: {
    kind: 'key',
    ...column('loans.product_type_key'),
    valueOf: ({ loan }) => loan.product.encodedKey,
  },
};

const viewed: Readonly<Record<FieldKind, readonly string[]>> = {
  text: ['fees.name', 'notes'],
  key: [
    'adjustmentTransactionKey',
    'branchID',
    'branchKey',
    'centreID',
    'centreKey',
    'fees.predefinedFeeKey',
    'fees.trigger',
    'installmentEncodedKey',
    'originalCurrencyCode',
    'originalTransactionKey',
    'prepaymentRecalculationMethod',
    'tillID',
    'tillKey',
    'transactionDetails.transactionChannelId',
    'transactionDetails.transactionChannelKey',
    'userKey',
  ],
  number: [
    'accountBalances.advancePosition',
    'accountBalances.arrearsPosition',
    'accountBalances.expectedPrincipalRedraw',
    'accountBalances.principalBalance',
    'accountBalances.redrawBalance',
    'accountBalances.totalBalance',
    'affectedAmounts.deferredInterestAmount',
    'affectedAmounts.feesAmount',
    'affectedAmounts.fundersInterestAmount',
    'affectedAmounts.interestAmount',
    'affectedAmounts.interestFromArrearsAmount',
    'affectedAmounts.organizationCommissionAmount',
    'affectedAmounts.penaltyAmount',
    'affectedAmounts.principalAmount',
    'amount',
    'originalAmount',
    'taxes.taxRate',
    'terms.interestSettings.interestRate',
  ],
  instant: [],
  day: ['bookingDate'],
  flag: [],
};

const derived: Readonly<Record<string, TransactionField>> = {
  productID: { kind: 'key', valueOf: ({ loan }) => loan.product.id },
  wasAdjusted: { kind: 'flag', valueOf: ({ transaction }) => transaction.adjustmentTransactionKey !== null },
  typeIsAdjustment: { kind: 'flag', valueOf: ({ transaction }) => transaction.originalTransactionKey !== null },
  adjustmentTransactionID: {
    kind: 'key',
    valueOf: ({ transaction, idOf }) => idOfKey(transaction.adjustmentTransactionKey, idOf),
  },
  originalTransactionID: {
    kind: 'key',
    valueOf: ({ transaction, idOf }) => idOfKey(transaction.originalTransactionKey, idOf),
  },
};

/** Other names of fields, which the API writes in two ways. */
const otherNames: Readonly<Record<string, string>> = {
  PARENT_ACCOUNT_HOLDER_KEY: 'parentAccountHolderKey',
  branchId: 'branchID',
  centreId: 'centreID',
  parentAccountId: 'parentAccountID',
  productId: 'productID',
  tillId: 'tillID',
};

const byName = new Map<string, TransactionField>([
  ...Object.entries(viewed).flatMap(([kind, names]) =>
    names.map((name): [string, TransactionField] => [name, viewedField(kind as FieldKind, name)]),
  ),
  ...Object.entries(byColumn),
  ...Object.entries(derived),
]);

/** The fields of loan transactions. */
export const transactionFields: SearchFields<ExaminedTransaction> = {
  find(name) {
    const found = byName.get(otherNames[name] ?? name);
    if (found !== undefined) return found;
    const path = customFieldPath(name);
    if (path === undefined) return undefined;
    return { kind: 'text', isCustom: true, valueOf: ({ view }) => valueAt(view, path) };
  },
};

function viewedField(kind: FieldKind, name: string): TransactionField {
  const path = name.split('.');
  return { kind, valueOf: ({ view }) => valueAt(view, path) };
}

function idOfKey(key: string | null, idOf: ExaminedTransaction['idOf']): string | undefined {
  return key === null ? undefined : idOf(key);
}

import type { TransactionRow } from '../../src/accounts/account-rows.ts';
import type { AccountState, Loan, LoanTransaction } from '../../src/lending/loan.ts';
import { encodeAccountProduct } from '../../src/lending/changelog/stored-product.ts';
import { encodeTransaction } from '../../src/lending/changelog/stored-transaction.ts';
import { Decimal, zero } from '../../src/lending/money.ts';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { encodeAccount, joinedAccount } from '../../src/lending-format/account-pages.ts';
import { accountProductKey, namedProduct } from '../../src/lending-format/account-products.ts';
import { accountRecordKey, transactionRecordKey } from '../../src/lending-format/account-record-keys.ts';
import {
  type CommandOutcome,
  checkpointKey,
  joinedCheckpoint,
  writeOutcome,
} from '../../src/lending-format/checkpoint.ts';
import { create, given, loanOf, product } from '../lending/loan-fixtures.ts';

/** Records of the changelog as the worker writes them, for loans with only the fields that a test needs. */

export interface LoanFacts {
  readonly id: string;
  readonly accountState?: AccountState;
  readonly accountHolderKey?: string;
  readonly productTypeKey?: string;
  readonly loanName?: string;
  readonly loanAmount?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt?: number;
  readonly transactionCount?: number;
}

/** The encodedKey of the loan with this id, and those of its transactions. */
export function keyOf(id: string): string {
  return Buffer.from(id).toString('hex').padEnd(32, '0').slice(0, 32);
}

export function loanRecord(facts: LoanFacts): LogRecord {
  const loan = storedLoan(facts);
  return { key: accountRecordKey(loan.id), value: Buffer.from(encodeAccount(loan).text) };
}

/** The text of the loan of {@link loanRecord}, with its pages. */
export function accountText(facts: LoanFacts): string {
  const { text, pages } = encodeAccount(storedLoan(facts));
  return joinedAccount(
    text,
    pages.map((page) => page.text),
  );
}

/** The record of the product of the loans that name no other one. */
export function productRecord(): LogRecord {
  const named = namedProduct(storedLoan({ id: 'any' }).product);
  return { key: accountProductKey(named.reference), value: Buffer.from(encodeAccountProduct(named)) };
}

/** The row of the first transaction of a loan. */
export function firstTransactionRow(loanId: string, transactionKey: string, state: string): TransactionRow {
  return {
    transactionKey,
    loanId,
    number: 1,
    type: 'REPAYMENT',
    creationDate: '2026-01-01T00:00:00.000Z',
    valueDate: '2026-01-01',
    externalId: null,
    isAdjusted: false,
    state,
  };
}

/** The record of a transaction of the loan with this id, and the number of the transaction in it. */
export function transactionRecord(loanId: string, number: number): LogRecord {
  const stored = transaction(loanId, number);
  const key = transactionRecordKey(loanId, stored.encodedKey);
  return { key, value: Buffer.from(encodeTransaction(stored)) };
}

export function checkpointRecord(partition: number, position: number, outcomes: readonly CommandOutcome[]): LogRecord {
  return {
    key: checkpointKey(partition),
    value: Buffer.from(joinedCheckpoint({ position }, outcomes.map(writeOutcome))),
  };
}

/** The loan of {@link loanRecord}. */
export function storedLoan(facts: LoanFacts): Loan {
  const { id, createdAt = 0, loanAmount = 1_000, productTypeKey = 'annuity-key' } = facts;
  const opened = loanOf(given(create(product({ encodedKey: productTypeKey }), loanAmount)));
  return {
    ...opened,
    id,
    encodedKey: keyOf(id),
    loanName: facts.loanName ?? null,
    accountHolderKey: facts.accountHolderKey ?? null,
    createdAt,
    modifiedAt: createdAt,
    position: { ...opened.position, accountState: facts.accountState ?? opened.position.accountState },
    transactionCount: facts.transactionCount ?? 0,
  };
}

function transaction(loanId: string, number: number): LoanTransaction {
  const none = { principal: zero, interest: zero, fees: zero, penalty: zero };
  return {
    encodedKey: keyOf(`${loanId}-${number}`),
    commandId: `command of ${loanId}-${number}`,
    commandDigest: '',
    id: `${loanId}-${number}`,
    type: 'REPAYMENT',
    amount: new Decimal('315.50'),
    valueDate: '2011-02-23',
    bookingDate: '2011-02-23',
    createdAt: 0,
    externalId: null,
    notes: null,
    transactionDetails: null,
    additionalFields: {},
    affected: none,
    taxes: none,
    fees: [],
    customPaymentAmounts: [],
    prepaymentRecalculationMethod: null,
    installmentKey: null,
    isInstallmentNamed: false,
    isSystemPosted: false,
    terms: { interestRate: new Decimal(10), periodicPayment: null },
    principalBalanceAfter: zero,
    totalBalanceAfter: zero,
    advancePositionAfter: null,
    arrearsPositionAfter: null,
    adjustmentTransactionKey: null,
    originalTransactionKey: null,
    undo: null,
    previousAdjustableKey: null,
  };
}

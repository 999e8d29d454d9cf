import { noAdditionalFields } from '../additional-fields.ts';
import type { ElementAmounts, LoanTransaction } from '../loan.ts';
import { Decimal } from '../money.ts';
import { decimalOf, reviveMarked, writeMarked } from './decimal-json.ts';
import { parseStored, storedFormat } from './stored-format.ts';
import { type StoredUndo, readUndo, writeUndo } from './stored-position.ts';

type StoredElements = { readonly [Name in keyof ElementAmounts]?: string };

/** The fields that are left out when they are null or false, or a list or an object without anything in it. */
type OptionalField =
  | 'externalId'
  | 'notes'
  | 'transactionDetails'
  | 'additionalFields'
  | 'fees'
  | 'customPaymentAmounts'
  | 'prepaymentRecalculationMethod'
  | 'installmentKey'
  | 'advancePositionAfter'
  | 'arrearsPositionAfter'
  | 'isInstallmentNamed'
  | 'isSystemPosted'
  | 'adjustmentTransactionKey'
  | 'originalTransactionKey'
  | 'previousAdjustableKey';

/** The fields of a transaction as parsed; their decimals are still marked texts. */
type StoredFields = Omit<LoanTransaction, 'affected' | 'taxes' | 'undo' | OptionalField> &
  Partial<Pick<LoanTransaction, OptionalField>>;

interface StoredTransaction {
  readonly format: number;
  readonly transaction: StoredFields;
  readonly affected: StoredElements;
  readonly taxes: StoredElements;
  readonly undo?: StoredUndo;
}

/** A transaction as one line of JSON in which each decimal keeps every digit, without what is null, false or zero. */
export function encodeTransaction({ affected, taxes, undo, ...transaction }: LoanTransaction): string {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(transaction)) if (!isNothing(value)) fields[name] = value;
  const amounts = `"affected":${writeElements(affected)},"taxes":${writeElements(taxes)}`;
  const undoText = undo === null ? '' : `,"undo":${writeUndo(undo)}`;
  return `{"format":${storedFormat},"transaction":${writeMarked(fields)},${amounts}${undoText}}`;
}

/**
 * Reads what {@link encodeTransaction} wrote.
 * @throws Error for any other text
 */
export function decodeTransaction(text: string): LoanTransaction {
  const { transaction, affected, taxes, undo } = parseStored<StoredTransaction>(text, 'transaction');
  return {
    externalId: null,
    notes: null,
    transactionDetails: null,
    additionalFields: noAdditionalFields,
    fees: [],
    customPaymentAmounts: [],
    prepaymentRecalculationMethod: null,
    installmentKey: null,
    advancePositionAfter: null,
    arrearsPositionAfter: null,
    isInstallmentNamed: false,
    isSystemPosted: false,
    adjustmentTransactionKey: null,
    originalTransactionKey: null,
    previousAdjustableKey: null,
    ...(reviveMarked(transaction) as StoredFields),
    affected: readElements(affected),
    taxes: readElements(taxes),
    undo: undo === undefined ? null : readUndo(undo),
  };
}

/** What transactions are found and sorted by. */
export type TransactionSummary = Pick<
  LoanTransaction,
  'encodedKey' | 'id' | 'type' | 'createdAt' | 'valueDate' | 'externalId'
> & { readonly isAdjusted: boolean };

/** Reads the summary alone. @throws as {@link decodeTransaction} */
export function decodeTransactionSummary(text: string): TransactionSummary {
  const {
    encodedKey,
    id,
    type,
    createdAt,
    valueDate,
    externalId = null,
    adjustmentTransactionKey = null,
  } = parseStored<StoredTransaction>(text, 'transaction').transaction;
  return { encodedKey, id, type, createdAt, valueDate, externalId, isAdjusted: adjustmentTransactionKey !== null };
}

function isNothing(value: unknown): boolean {
  return (
    value === null || value === false || (typeof value === 'object' && !(value instanceof Decimal) && isEmpty(value))
  );
}

function isEmpty(value: object): boolean {
  for (const _name in value) return false;
  return true;
}

function writeElements(amounts: ElementAmounts): string {
  let text = '';
  for (const [name, amount] of Object.entries(amounts) as [string, Decimal][]) {
    if (amount.isZero() && amount.isPositive()) continue;
    text += `${text === '' ? '' : ','}"${name}":"${amount.valueOf()}"`;
  }
  return `{${text}}`;
}

function readElements({ principal = '0', interest = '0', fees = '0', penalty = '0' }: StoredElements): ElementAmounts {
  return {
    principal: decimalOf(principal),
    interest: decimalOf(interest),
    fees: decimalOf(fees),
    penalty: decimalOf(penalty),
  };
}

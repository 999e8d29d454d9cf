/**
 * What the service keeps of persons: the one list of it, and how it is taken out of accounts, transactions and events.
 * Everything that erases reads this list, and docs/personal-data.md shows it.
 */

import { type AdditionalFields, type FieldValue, noAdditionalFields } from '../additional-fields.ts';
import type { FieldDefinitions } from '../custom-fields/definitions.ts';
import type { Loan, LoanTransaction } from '../loan.ts';

export type PersonalRecord = 'account' | 'transaction';

/** What stands in place of a text that must not be missing. */
export const erasedText = 'erased';

export interface PersonalField {
  readonly record: PersonalRecord;
  /**
   * Where responses and events show it in an account or a transaction. `[]` is each item of a list, and {@link anySet}
   * each custom field set that counts as personal.
   */
  readonly path: string;
  /** Whether nothing is left of it, or {@link erasedText}, because an account without it could not be changed. */
  readonly after: 'absent' | 'replaced';
  /** What it may say of a person. */
  readonly meaning: string;
}

/** In a path: each custom field set that is marked as personal, or that has no definition. */
export const anySet = '_*';

export const personalFields: readonly PersonalField[] = [
  {
    record: 'account',
    path: 'loanName',
    after: 'absent',
    meaning: 'a free text; answers show the name of the product',
  },
  { record: 'account', path: 'accountHolderKey', after: 'absent', meaning: 'who holds the account' },
  { record: 'account', path: 'notes', after: 'absent', meaning: 'a free text' },
  { record: 'account', path: 'guarantors[].guarantorKey', after: 'replaced', meaning: 'who guarantees' },
  {
    record: 'account',
    path: 'guarantors[].depositAccountKey',
    after: 'absent',
    meaning: 'an account of who guarantees',
  },
  { record: 'account', path: 'guarantors[].assetName', after: 'absent', meaning: 'a free text' },
  { record: 'account', path: 'assets[].assetName', after: 'replaced', meaning: 'a free text' },
  { record: 'account', path: 'assets[].guarantorKey', after: 'absent', meaning: 'who guarantees' },
  { record: 'account', path: 'assets[].depositAccountKey', after: 'absent', meaning: 'an account of the holder' },
  { record: 'account', path: anySet, after: 'absent', meaning: 'custom fields of the account' },
  {
    record: 'account',
    path: `disbursementDetails.${anySet}`,
    after: 'absent',
    meaning: 'custom fields of the disbursement',
  },
  { record: 'account', path: `guarantors[].${anySet}`, after: 'absent', meaning: 'custom fields of who guarantees' },
  { record: 'account', path: `assets[].${anySet}`, after: 'absent', meaning: 'custom fields of an asset' },
  { record: 'transaction', path: 'notes', after: 'absent', meaning: 'a free text' },
  { record: 'transaction', path: anySet, after: 'absent', meaning: 'custom fields of the transaction' },
];

/** Whether the values of a custom field set, by its id, count as personal. */
export type IsPersonalSet = (setId: string) => boolean;

/**
 * The sets that count as personal under these definitions: those that are marked, and those that have no
 * definition, since nothing says that they are not.
 */
export function personalSets(definitions: Pick<FieldDefinitions, 'set'>): IsPersonalSet {
  return (setId) => {
    const set = definitions.set(setId);
    return set === undefined || set.personalData === true;
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** How a place in a path is left: its name, and whether it is each item of a list. */
interface Step {
  readonly name: string;
  readonly isList: boolean;
}

interface PersonalPath {
  readonly field: PersonalField;
  readonly steps: readonly Step[];
}

const pathsOf: Readonly<Record<PersonalRecord, readonly PersonalPath[]>> = {
  account: pathsOfRecord('account'),
  transaction: pathsOfRecord('transaction'),
};

function pathsOfRecord(record: PersonalRecord): readonly PersonalPath[] {
  return personalFields
    .filter((field) => field.record === record)
    .map((field) => ({
      field,
      steps: field.path.split('.').map((part) => ({ name: part.replace(/\[\]$/, ''), isList: part.endsWith('[]') })),
    }));
}

/**
 * The fields of an account or a transaction, as responses, events and additional fields have them, without what is
 * personal. The same object when it has nothing personal.
 */
export function withoutPersonalFields<Value extends Fields>(
  fields: Value,
  record: PersonalRecord,
  isPersonalSet: IsPersonalSet,
): Value {
  let left: Fields = fields;
  for (const path of pathsOf[record]) left = withoutPath(left, path.steps, path.field, isPersonalSet);
  return left as Value;
}

function withoutPath(
  fields: Fields,
  [step, ...further]: readonly Step[],
  field: PersonalField,
  isPersonalSet: IsPersonalSet,
): Fields {
  if (step === undefined) return fields;
  if (step.name === anySet) return withoutSets(fields, isPersonalSet);
  const value = fields[step.name];
  if (value === undefined || value === null) return fields;
  if (further.length > 0) {
    const inside = (item: unknown): unknown =>
      typeof item === 'object' && item !== null && !Array.isArray(item)
        ? withoutPath(item as Fields, further, field, isPersonalSet)
        : item;
    if (!step.isList) return replaced(fields, step.name, inside(value));
    if (!Array.isArray(value)) return fields;
    const items = value as readonly unknown[];
    const left = items.map(inside);
    return left.every((item, index) => item === items[index]) ? fields : replaced(fields, step.name, left);
  }
  if (field.after === 'replaced') return replaced(fields, step.name, erasedText);
  const { [step.name]: _erased, ...others } = fields;
  return others;
}

function withoutSets(fields: Fields, isPersonalSet: IsPersonalSet): Fields {
  const kept = Object.entries(fields).filter(([name]) => !name.startsWith('_') || !isPersonalSet(name));
  return kept.length === Object.keys(fields).length ? fields : Object.fromEntries(kept);
}

function replaced(fields: Fields, name: string, value: unknown): Fields {
  return fields[name] === value ? fields : { ...fields, [name]: value };
}

/** An account without what is personal. Its money, dates and states are as they were. */
export function withoutPersonalData(loan: Loan, isPersonalSet: IsPersonalSet): Loan {
  return {
    ...loan,
    ...erasedOwnFields('account'),
    additionalFields: erasedAdditionalFields(loan.additionalFields, 'account', isPersonalSet),
  };
}

/** A transaction without what is personal; the same one when it has nothing personal. */
export function transactionWithoutPersonalData(
  transaction: LoanTransaction,
  isPersonalSet: IsPersonalSet,
): LoanTransaction {
  const additionalFields = erasedAdditionalFields(transaction.additionalFields, 'transaction', isPersonalSet);
  if (transaction.notes === null && additionalFields === transaction.additionalFields) return transaction;
  return { ...transaction, ...erasedOwnFields('transaction'), additionalFields };
}

/** The personal fields that accounts and transactions have themselves, and not among their additional fields. */
const ownFields = {
  account: { loanName: null, accountHolderKey: null, notes: null },
  transaction: { notes: null },
} as const satisfies { readonly account: Partial<Loan>; readonly transaction: Partial<LoanTransaction> };

function erasedOwnFields<Record extends PersonalRecord>(record: Record): (typeof ownFields)[Record] {
  return ownFields[record];
}

function erasedAdditionalFields(
  fields: AdditionalFields,
  record: PersonalRecord,
  isPersonalSet: IsPersonalSet,
): AdditionalFields {
  if (fields === noAdditionalFields) return fields;
  return withoutPersonalFields<Readonly<Record<string, FieldValue>>>(fields, record, isPersonalSet);
}
